#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace eckart {

/// A value of an enum and its name in settings, files and messages.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// An enum with a table of names. The function `enum_names(Enum)`, declared next to the enum,
/// returns an array with an EnumName for each value, in the order in which messages list them. If a
/// value has several names, the first is printed, and the others are accepted too. The functions
/// below work for every such enum.
template <class Enum>
concept NamedEnum = std::is_enum_v<Enum> && requires(Enum value) {
  enum_names(value).size();
};

template <NamedEnum Enum>
std::string to_string(Enum value) {
  for (const auto& entry : enum_names(value)) {
    if (entry.value == value) return std::string(entry.name);
  }
  return "?";
}

/// The value with this name, or nullopt.
template <NamedEnum Enum>
constexpr std::optional<Enum> parse_enum(std::string_view name) {
  for (const auto& entry : enum_names(Enum{})) {
    if (entry.name == name) return entry.value;
  }
  return std::nullopt;
}

/// All values, in the order of enum_names().
template <NamedEnum Enum>
std::vector<Enum> enum_values() {
  std::vector<Enum> values;
  for (const auto& entry : enum_names(Enum{})) {
    if (std::find(values.begin(), values.end(), entry.value) == values.end())
      values.push_back(entry.value);
  }
  return values;
}

/// The printed names of all values: "png, jpeg".
template <NamedEnum Enum>
std::string list_names() {
  std::string list;
  for (const Enum value : enum_values<Enum>())
    list.append(list.empty() ? "" : ", ").append(to_string(value));
  return list;
}

}  // namespace eckart
