#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "core/enum_names.hpp"

namespace eckart::cli {

/// Returns the names of these values, without duplicates.
template <NamedEnum Enum>
std::vector<std::string> names_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const Enum value : values) names.push_back(to_string(value));
  return names;
}

/// Returns a validator that accepts these words. The help lists them.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  const std::string list = CLI::detail::join(words, ", ");
  return CLI::Validator(
      [words, list](std::string& text) -> std::string {
        const bool is_allowed = std::find(words.begin(), words.end(), text) != words.end();
        return is_allowed ? "" : "'" + text + "' is not one of " + list;
      },
      "{" + CLI::detail::join(words, ",") + "}");
}

/// Adds an option for a value of an enum, by its name. `allowed`: the values that it may have; an
/// empty list means all.
template <NamedEnum Enum>
CLI::Option* add_enum_option(CLI::App& command, const std::string& flags, Enum& value,
                             const std::string& description,
                             const std::vector<Enum>& allowed = {}) {
  std::vector<std::string> names = names_of(allowed);
  if (allowed.empty()) {
    for (const auto& entry : enum_names(value)) names.emplace_back(entry.name);
  }
  return command
      .add_option_function<std::string>(
          flags, [&value](const std::string& name) { value = *parse_enum<Enum>(name); },
          description)
      ->type_name("NAME")
      ->check(one_of(names))
      ->default_str(to_string(value));
}

/// Adds an option for the name of an enum value, which the settings read. The help lists all names.
template <NamedEnum Enum>
CLI::Option* add_enum_name_option(CLI::App& command, const std::string& flags,
                                  std::optional<std::string>& name, const std::string& description,
                                  Enum default_value) {
  std::vector<std::string> names;
  for (const auto& entry : enum_names(default_value)) names.emplace_back(entry.name);
  return command.add_option(flags, name, description)
      ->type_name("NAME")
      ->check(one_of(names))
      ->default_str(to_string(default_value));
}

}  // namespace eckart::cli
