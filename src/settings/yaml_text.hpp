#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "settings/settings.hpp"
#include "settings/value_types.hpp"

/// Functions that all YAML readers share.
namespace eckart::settings {

constexpr std::size_t kMaxMessageBytes = 300;

/// The name of a YAML text in messages.
struct TextSource {
  std::string name;
  bool has_lines;

  std::string location(const YAML::Mark& mark) const {
    return has_lines && !mark.is_null() ? name + ":" + std::to_string(mark.line + 1) : name;
  }
  [[noreturn]] void fail(const YAML::Mark& mark, const std::string& message) const {
    throw SettingsError(location(mark) + ": " + one_line(message, kMaxMessageBytes));
  }
};

/// Describes a node for the message "... is not an integer".
std::string found(const YAML::Node& node);

/// Returns the text of a scalar or, if `accepts_list`, the texts of a list of scalars. Throws
/// std::invalid_argument.
std::vector<std::string> scalar_texts(const YAML::Node& node, bool accepts_list,
                                      const std::string& expected);

/// Parses the single document in `text`; returns a null node if there is none. Throws
/// SettingsError.
YAML::Node parse(const TextSource& origin, const std::string& text);

/// Throws SettingsError.
std::string read_text(const std::filesystem::path& path);

}  // namespace eckart::settings
