#include "telemetry/host_header.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>

namespace eckart::telemetry {
namespace {

/// A decimal number as addresses and ports have it: digits alone, no leading zero.
std::optional<int> number_in(std::string_view text) {
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
  const std::optional<int> port = number_in(text);
  return port && *port >= 1 && *port <= 65535;
}

bool is_ipv4_loopback(std::string_view text) {
  for (int part = 0; part < 4; ++part) {
    const std::size_t dot = text.find('.');
    if ((dot == text.npos) != (part == 3)) return false;
    const std::optional<int> number = number_in(text.substr(0, dot));
    if (!number || *number > 255 || (part == 0 && *number != 127)) return false;
    if (part < 3) text.remove_prefix(dot + 1);
  }
  return true;
}

bool is_localhost(std::string_view text) {
  constexpr std::string_view kName = "localhost";
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; };
  return std::equal(text.begin(), text.end(), kName.begin(), kName.end(),
                    [&](char a, char b) { return lower(a) == b; });
}

}  // namespace

bool names_loopback(std::string_view host) {
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

}  // namespace eckart::telemetry
