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
struct TextSource {
  std::string name;
  bool has_lines;

  std::string location(const YAML::Mark& mark) const {
    return has_lines && !mark.is_null() ? name + ":" + std::to_string(mark.line + 1) : name;
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    constexpr std::size_t kMaxMessageBytes = 300;
    throw SettingsError(location(mark) + ": " + one_line(message, kMaxMessageBytes));
  }
};

/// What a node is, for "... is not an integer".
std::string found(const YAML::Node& node);

/// A scalar's text, or with `accepts_list` those of a list of scalars. Throws
/// std::invalid_argument.
std::vector<std::string> scalar_texts(const YAML::Node& node, bool accepts_list,
                                      const std::string& expected);

/// The one document in `text`; null if there is none. Throws SettingsError.
YAML::Node parse(const TextSource& origin, const std::string& text);

/// Throws SettingsError.
std::string read_text(const std::filesystem::path& path);

}  // namespace eckart::settings
