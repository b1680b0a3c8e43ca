#include "status_server/host_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

#include "text/ascii.hpp"

namespace eckart::status_server {
namespace {

/// Parses a decimal number as in addresses and ports: only digits, no leading zero.
std::optional<int> parse_number(std::string_view text) {
  constexpr std::size_t kMaxDigits = 5;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty() || text.size() > kMaxDigits || !std::all_of(text.begin(), text.end(), is_digit))
    return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  int number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

bool is_port(std::string_view text) {
  const std::optional<int> port = parse_number(text);
  return port && *port >= 1 && *port <= 65535;
}

bool is_ipv4_loopback(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == text.npos) != (part == 3)) return false;
    const std::optional<int> number = parse_number(text.substr(0, dot));
    if (!number || *number > 255 || (part == 0 && *number != 127)) return false;
    if (part < 3) text.remove_prefix(dot + 1);
  }
  return true;
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view kName = "localhost";
  return std::equal(host.begin(), host.end(), kName.begin(), kName.end(),
                    [](char a, char b) { return text::to_lower_ascii(a) == b; });
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/// Whether `name` is a token of RFC 9110. A leading space would continue the previous line, and a
/// trailing space is not allowed.
bool is_header_name(std::string_view name) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::all_of(name.begin(), name.end(), [&](char c) {
    return is_letter_or_digit(c) || kMarks.find(c) != kMarks.npos;
  });
}

bool has_control_character(std::string_view line) {
  return std::any_of(line.begin(), line.end(),
                     [](char c) { return (c >= 0 && c < ' ' && c != '\t') || c == '\x7f'; });
}

}  // namespace

bool is_well_formed_request_head(std::string_view head) {
  constexpr std::string_view kEndOfLine = "\r\n";
  for (bool is_request_line = true;; is_request_line = false) {
    const std::size_t end = head.find(kEndOfLine);
    const std::string_view line = head.substr(0, end);
    if (end == head.npos || has_control_character(line)) return false;
    if (line.empty()) return !is_request_line;
    const std::size_t colon = line.find(':');
    if (!is_request_line && (colon == line.npos || !is_header_name(line.substr(0, colon))))
      return false;
    head.remove_prefix(end + kEndOfLine.size());
  }
}

bool is_loopback_host(std::string_view host) {
  constexpr std::string_view kIpv6 = "[::1]";
  if (host.starts_with(kIpv6)) {
    host.remove_prefix(kIpv6.size());
    return host.empty() || (host.front() == ':' && is_port(host.substr(1)));
  }
  const std::size_t colon = host.find(':');
  if (colon != host.npos && !is_port(host.substr(colon + 1))) return false;
  const std::string_view name = host.substr(0, colon);
  return is_localhost(name) || is_ipv4_loopback(name);
}

}  // namespace eckart::status_server
