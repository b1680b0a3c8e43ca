#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "settings/settings.hpp"
#include "settings/value_types.hpp"

/// What all readers of YAML do alike.
namespace eckart::settings {

/// What a YAML text is called in messages.
struct Origin {
  std::string name;
  bool has_lines;

  std::string place(const YAML::Mark& mark) const {
    return has_lines && !mark.is_null() ? name + ":" + std::to_string(mark.line + 1) : name;
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    constexpr std::size_t kLongest = 300;
    throw SettingsError(place(mark) + ": " + one_line(message, kLongest));
  }
};

/// What a node is, for "... is not an integer".
std::string found(const YAML::Node& node);

/// A scalar's text, or with `takes_list` those of a list of scalars. Throws std::invalid_argument.
std::vector<std::string> texts_of(const YAML::Node& node, bool takes_list,
                                  const std::string& expected);

/// The one document in `text`; null if there is none. Throws SettingsError.
YAML::Node parse(const Origin& origin, const std::string& text);

/// Throws SettingsError.
std::string read_text(const std::filesystem::path& path);

}  // namespace eckart::settings
