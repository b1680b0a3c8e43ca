#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "core/enum_names.hpp"

namespace eckart::cli {

/// Adds an option for a value of an enum, by its name. `allowed`: the values that it may have.
template <NamedEnum Enum>
void add_enum_option(CLI::App& command, const std::string& flags, Enum& value,
                     const std::string& description, const std::vector<Enum>& allowed) {
  std::vector<std::string> names;
  names.reserve(allowed.size());
  for (const Enum each : allowed) names.push_back(to_string(each));
  command
      .add_option_function<std::string>(
          flags, [&value](const std::string& name) { value = *parse_enum<Enum>(name); },
          description)
      ->check(CLI::IsMember(names))
      ->default_str(to_string(value));
}

/// The same for all values.
template <NamedEnum Enum>
void add_enum_option(CLI::App& command, const std::string& flags, Enum& value,
                     const std::string& description) {
  std::vector<Enum> all;
  for (const auto& entry : enum_names(value)) all.push_back(entry.value);
  add_enum_option(command, flags, value, description, all);
}

}  // namespace eckart::cli
