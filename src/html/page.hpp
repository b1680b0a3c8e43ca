#pragma once

#include <string>
#include <vector>

namespace eckart::html {

// Parts of a page that needs no other file. Arguments named `html` are not escaped.

std::string escape(const std::string& text);

/// Returns a whole page with the style of style.hpp. Its title is also its heading.
std::string page(const std::string& title, const std::string& html);

/// Returns a number for people together with its full value for programs.
std::string data_element(double value, const std::string& text);

/// How a table is shown on a phone.
enum class OnPhone {
  table,
  list,  ///< each cell is a line with its head
};

/// Returns a table row. `heads` has the head of each cell.
std::string row(const std::vector<std::string>& cells_html, const std::vector<std::string>& heads);

/// Returns a table below its title, unless that is empty. `rows_html` are those of row().
std::string table(const std::string& title, const std::vector<std::string>& heads,
                  const std::string& rows_html, OnPhone on_phone);

}  // namespace eckart::html
