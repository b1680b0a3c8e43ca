#include "files/output_name.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

namespace eckart::files {
namespace {

constexpr std::array<std::string_view, 5> kFields{"stem", "name", "ext", "rank", "label"};

[[noreturn]] void throw_invalid(std::string_view pattern, const std::string& why) {
  throw std::invalid_argument("'" + std::string(pattern) + "' " + why);
}

}  // namespace

void validate_output_name(std::string_view pattern) {
  if (pattern.empty() || pattern == "." || pattern == "..")
    throw_invalid(pattern, "is not a valid file name");
  if (pattern.find('/') != pattern.npos || pattern.find('\0') != pattern.npos) {
    throw_invalid(pattern, "contains a slash or a null byte: expected a file name");
  }
  expand_output_name(pattern, [&](std::string_view field) -> std::string {
    if (std::find(kFields.begin(), kFields.end(), field) == kFields.end()) {
      throw_invalid(pattern, "has {" + std::string(field) +
                                 "}: valid fields are {stem}, {name}, {ext}, {rank} and {label}");
    }
    return {};
  });
}

std::string expand_output_name(std::string_view pattern,
                               const std::function<std::string(std::string_view field)>& value_of) {
  std::string name;
  for (std::string_view rest = pattern;;) {
    const std::size_t open = rest.find('{');
    name += rest.substr(0, open);
    if (open == rest.npos) return name;
    const std::size_t close = rest.find('}', open);
    if (close == rest.npos) throw_invalid(pattern, "has a '{' without a matching '}'");
    name += value_of(rest.substr(open + 1, close - open - 1));
    rest.remove_prefix(close + 1);
  }
}

}  // namespace eckart::files
