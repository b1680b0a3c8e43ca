#include "pipeline/settings_change.hpp"

#include <map>

namespace eckart::pipeline {
namespace {

/// Returns values by name, such as "rank" -> "20". The first setting is the format; a setting
/// without a value is a flag.
std::map<std::string, std::string> parse_settings(std::string_view text) {
  std::map<std::string, std::string> settings;
  while (!text.empty()) {
    const std::size_t end = text.find(", ");
    const std::string setting(text.substr(0, end));
    text = end == text.npos ? std::string_view() : text.substr(end + 2);
    const std::size_t space = setting.find(' ');
    if (settings.empty()) {
      settings["format"] = setting;
    } else if (space == setting.npos) {
      settings[setting] = "on";
    } else {
      settings[setting.substr(0, space)] = setting.substr(space + 1);
    }
  }
  return settings;
}

}  // namespace

std::string settings_difference(std::string_view before, std::string_view now) {
  if (before.empty()) return "settings that were not recorded";
  const auto old_settings = parse_settings(before), new_settings = parse_settings(now);
  const auto value = [](const auto& settings, const std::string& name) {
    const auto found = settings.find(name);
    if (found != settings.end()) return found->second;
    return std::string(name == "decoder" ? "strict"
                                         : "none");  // the default, which is not recorded
  };
  std::string difference;
  std::map<std::string, std::string> names = old_settings;
  names.insert(new_settings.begin(), new_settings.end());
  for (const auto& [name, unused] : names) {
    const std::string was = value(old_settings, name), is = value(new_settings, name);
    if (was == is) continue;
    difference += (difference.empty() ? "" : ", ") + name + " " + was + " -> " + is;
  }
  return difference;
}

}  // namespace eckart::pipeline
