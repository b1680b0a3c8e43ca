#include "settings/settings.hpp"

#include <stdexcept>
#include <string>
#include <utility>

#include "settings/print_keys.hpp"
#include "settings/settings_reader.hpp"

namespace eckart::settings {
namespace {

/// Parses the value of --set. No value is a map, so a leading brace begins a text such as
/// {stem}.{ext}. If the key accepts no list, a leading bracket begins a text too: [::1]:9464.
YAML::Node parse_value(const TextSource& origin, const std::string& path, const std::string& text) {
  const SettingKey<Settings>* key = settings_table().find(path);
  const bool is_text =
      key && (text.starts_with('{') || (text.starts_with('[') && !key->accepts_list));
  return text.empty() || is_text ? YAML::Node(text) : parse(origin, text);
}

}  // namespace

RankSettingError::RankSettingError(const std::string& place, const RankSpecError& error)
    : SettingsError(place + ": " + one_line(error.what(), kMaxMessageBytes)),
      place_(place),
      error_(error) {}

Settings parse_settings(const std::string& text, const std::string& name) {
  const TextSource origin{name, true};
  Settings settings;
  SettingsReader(origin, settings_table(), settings).read(parse(origin, text));
  return settings;
}

void apply(Settings& settings, std::string_view assignment) {
  const TextSource origin{"--set " + one_line(assignment), false};
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    throw SettingsError(origin.name + ": expected key=value");
  }
  const std::string path(assignment.substr(0, equals));
  const std::string text(assignment.substr(equals + 1));
  if (const auto first = path.substr(0, path.find_first_of(".[")); first == "watches") {
    throw SettingsError(origin.name + ": watches can only be set in a file (--config)");
  }
  Settings changed = settings;
  SettingsReader(origin, settings_table(), changed)
      .read(path, YAML::Mark(), parse_value(origin, path, text));
  settings = std::move(changed);
}

std::vector<std::pair<std::string, std::string>> changed(const Settings& settings) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const SettingKey<Settings>& key : settings_table()) {
    std::string value = key.print(settings);
    if (value != key.print({})) all.emplace_back(key.path, std::move(value));
  }
  return all;
}

std::string to_yaml(const Settings& settings) { return print(settings_table(), settings); }

void check_chroma_rank(const Settings& settings) {
  if (settings.chroma_rank && settings.color != ColorMode::ycbcr)
    throw std::invalid_argument("chroma_rank is set, but color is " + to_string(settings.color) +
                                ", not ycbcr");
}

}  // namespace eckart::settings
