#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace eckart {

/// A value of an enum and its name in settings, files and messages.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// An enum with a table of names. The function `enum_names(Enum)`, declared next to the enum,
/// returns an array with one EnumName for each value, in the order in which messages list them. The
/// functions below work for every such enum.
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

/// All names: "png, jpeg".
template <NamedEnum Enum>
std::string list_names() {
  std::string list;
  for (const auto& entry : enum_names(Enum{}))
    list.append(list.empty() ? "" : ", ").append(entry.name);
  return list;
}

}  // namespace eckart
