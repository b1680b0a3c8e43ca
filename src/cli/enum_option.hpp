#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/enum_names.hpp"
#include "text/closest_word.hpp"

namespace eckart::cli {

/// Returns a validator that accepts what `is_allowed` does. The help lists `words`.
inline CLI::Validator one_of(const std::vector<std::string>& words,
                             std::function<bool(const std::string&)> is_allowed) {
  return CLI::Validator(
      [words, is_allowed = std::move(is_allowed)](const std::string& word) -> std::string {
        if (is_allowed(word)) return "";
        return "'" + word + "' is not one of " + CLI::detail::join(words, ", ") +
               text::did_you_mean(word, words);
      },
      "{" + CLI::detail::join(words, ",") + "}");
}

/// Returns a validator that accepts these words.
inline CLI::Validator one_of(const std::vector<std::string>& words) {
  return one_of(words, [words](const std::string& text) {
    return std::find(words.begin(), words.end(), text) != words.end();
  });
}

/// Returns a validator that accepts the names of these values.
template <NamedEnum Enum>
CLI::Validator name_of_one_of(const std::vector<Enum>& values) {
  std::vector<std::string> names;
  names.reserve(values.size());
  for (const Enum value : values) names.push_back(to_string(value));
  return one_of(names, [values](const std::string& text) {
    const std::optional<Enum> value = parse_enum<Enum>(text);
    return value && std::find(values.begin(), values.end(), *value) != values.end();
  });
}

/// Adds an option for a value of an enum, by its name. `allowed`: the values that it may have.
template <NamedEnum Enum>
CLI::Option* add_enum_option(CLI::App& command, const std::string& flags, Enum& value,
                             const std::string& description,
                             const std::vector<Enum>& allowed = enum_values<Enum>()) {
  return command
      .add_option_function<std::string>(
          flags, [&value](const std::string& name) { value = *parse_enum<Enum>(name); },
          description)
      ->type_name("NAME")
      ->check(name_of_one_of(allowed))
      ->default_str(to_string(value));
}

/// Adds an option for the name of an enum value, which the settings read. `allowed`: the values
/// that it may have.
template <NamedEnum Enum>
CLI::Option* add_enum_name_option(CLI::App& command, const std::string& flags,
                                  std::optional<std::string>& name, const std::string& description,
                                  Enum default_value,
                                  const std::vector<Enum>& allowed = enum_values<Enum>()) {
  return command.add_option(flags, name, description)
      ->type_name("NAME")
      ->check(name_of_one_of(allowed))
      ->default_str(to_string(default_value));
}

}  // namespace eckart::cli
