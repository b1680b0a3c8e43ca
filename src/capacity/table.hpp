#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace eckart::capacity {

/// A cell for people, with the full value of its number.
struct Cell {
  std::string text = {};
  std::optional<double> value = {};
  std::optional<double> high = {};  ///< of an interval, whose low end is `value`
};

/// A table for text and HTML. The first and the last column are left-aligned if they
/// are names.
struct Table {
  std::string title = {};
  std::vector<std::string> heads = {};
  std::vector<std::vector<Cell>> rows = {};
  bool has_name_last = false;
  bool has_name_first = false;

  bool is_left(std::size_t column) const {
    return (column == 0 && has_name_first) || (column + 1 == heads.size() && has_name_last);
  }
};

}  // namespace eckart::capacity
