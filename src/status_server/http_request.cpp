#include "status_server/http_request.hpp"

#include <strings.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "status_server/host_header.hpp"

namespace eckart::status_server {
namespace {

constexpr std::string_view kEndOfLine = "\r\n";

/// Returns the text before the next `end`, and removes it and `end` from `rest`. Returns all of
/// `rest` if there is no `end`.
std::string_view take_until(std::string_view& rest, std::string_view end) {
  const std::size_t at = rest.find(end);
  const std::string_view part = rest.substr(0, at);
  rest.remove_prefix(at == rest.npos ? rest.size() : at + end.size());
  return part;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t";
  const std::size_t first = text.find_first_not_of(kBlanks);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 400:
      return "Bad Request";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 503:
      return "Service Unavailable";
    default:
      return "Internal Server Error";
  }
}

}  // namespace

std::vector<std::string_view> HttpRequest::header_values(std::string_view name) const {
  std::vector<std::string_view> values;
  for (const auto& [other, value] : headers) {
    if (equal_ignoring_case(other, name)) values.push_back(value);
  }
  return values;
}

std::string_view HttpRequest::query_value(std::string_view name) const {
  for (std::string_view rest = query; !rest.empty();) {
    std::string_view value = take_until(rest, "&");
    if (take_until(value, "=") == name) return value;
  }
  return {};
}

std::optional<HttpRequest> parse_http_request(std::string_view head) {
  if (!is_well_formed_request_head(head)) return std::nullopt;
  std::string_view line = take_until(head, kEndOfLine);
  HttpRequest request;
  request.method = take_until(line, " ");
  std::string_view target = take_until(line, " ");
  request.version = line;
  const bool is_known_version = line == "HTTP/1.0" || line == "HTTP/1.1";
  if (request.method.empty() || !target.starts_with('/') || !is_known_version) return std::nullopt;
  request.path = take_until(target, "?");
  request.query = target;
  for (line = take_until(head, kEndOfLine); !line.empty(); line = take_until(head, kEndOfLine)) {
    const std::string_view name = take_until(line, ":");
    request.headers.emplace_back(name, trimmed(line));
  }
  return request;
}

std::string to_text(const HttpResponse& response, bool with_body) {
  std::string text = "HTTP/1.1 " + std::to_string(response.status) + ' ';
  text += reason_phrase(response.status);
  const auto add = [&](std::string_view name, std::string_view value) {
    ((text += kEndOfLine) += name) += ": ";
    text += value;
  };
  add("Content-Type", response.type);
  add("Content-Length", std::to_string(response.body.size()));
  add("Cache-Control", "no-store");
  add("X-Content-Type-Options", "nosniff");
  add("Connection", "close");
  for (const auto& [name, value] : response.headers) add(name, value);
  (text += kEndOfLine) += kEndOfLine;
  if (with_body) text += response.body;
  return text;
}

}  // namespace eckart::status_server
