#include "html/page.hpp"

#include <spdlog/fmt/fmt.h>

#include "html/style.hpp"

namespace eckart::html {

std::string escape(const std::string& text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += c;
    }
  }
  return html;
}

std::string page(const std::string& title, const std::string& html) {
  return fmt::format(
      "<!doctype html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
      "<meta name='viewport' content='width=device-width, initial-scale=1'>\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n"
      "</html>\n",
      escape(title), kStyle, html);
}

std::string data_element(double value, const std::string& text) {
  return fmt::format("<data value='{}'>{}</data>", value, escape(text));
}

std::string row(const std::vector<std::string>& cells_html, const std::vector<std::string>& heads) {
  std::string html = "<tr>";
  for (std::size_t i = 0; i < cells_html.size(); ++i)
    html += fmt::format("<td data-head='{}'>{}</td>", escape(heads.at(i)), cells_html[i]);
  return html + "</tr>\n";
}

std::string table(const std::string& title, const std::vector<std::string>& heads,
                  const std::string& rows_html, OnPhone on_phone) {
  std::string head;
  for (const std::string& each : heads)
    head += fmt::format("<th scope='col'>{}</th>", escape(each));
  const std::string heading = title.empty() ? "" : fmt::format("<h3>{}</h3>\n", escape(title));
  return fmt::format(
      "{}<div class='wide{}'><table><thead><tr>{}</tr></thead><tbody>\n{}</tbody>"
      "</table></div>\n",
      heading, on_phone == OnPhone::list ? " list" : "", head, rows_html);
}

}  // namespace eckart::html
