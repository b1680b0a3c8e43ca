#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

namespace eckart {

/// A value of an enum, and what settings, files and messages call it.
template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};

/// An enum with a table of its names: `enum_names(Enum)`, declared beside it, returns an array of
/// EnumName with every value, in the order in which messages list them. What is below is for each
/// of them.
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

/// The value of that name; nullopt if no value has it.
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
