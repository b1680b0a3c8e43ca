#include "settings/watches.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "settings/print_keys.hpp"
#include "settings/settings_reader.hpp"

namespace eckart::settings {
namespace {

constexpr const char* kExpectedWatchList = "a list of maps, each with input and output";

SettingKey<WatchSettings> section_shorthand(SettingKey<WatchSettings> key) {
  key.is_section_shorthand = true;
  return key;
}

SettingKey<WatchSettings> watch_key(const SettingKey<Settings>& setting) {
  SettingKey<WatchSettings> key = nested_key(setting, &WatchSettings::settings);
  if (!setting.per_watch) {
    key.read = [](WatchSettings&, const std::vector<std::string>&) {
      throw std::invalid_argument("applies to all watches: set it at the top level of the file");
    };
  }
  return key;
}

/// Returns the keys of a watch, followed by the keys of Settings; keys of the same section are
/// adjacent.
KeyTable<WatchSettings> make_watch_table() {
  using W = WatchSettings;
  std::vector<SettingKey<WatchSettings>> keys = {
      section_shorthand(
          key("input.folder", "input folder, searched recursively", AbsolutePath{}, &W::input)),
      section_shorthand(key("output.folder", "output folder; mirrors the folders of input",
                            AbsolutePath{}, &W::output)),
      key("name", "name of the watch in metrics and status; empty: that of the input folder",
          WatchName{}, &W::name),
      key("settle_ms", "a file is ready when it has not changed for this long", Integer{0, 3600000},
          &W::settle_ms),
      key("retry_timeout_s",
          "how long a file that does not decode is retried: it may be incomplete",
          Integer{0, 86400}, &W::retry_timeout_s),
      key("rescan_s", "seconds between full scans, which find files that events missed",
          Integer{1, 86400}, &W::rescan_s),
      key("poll_s",
          "seconds between scans of file systems without reliable events: NFS, SMB, FUSE, overlay",
          Integer{1, 86400}, &W::poll_s),
      key("after", "what to do with an input that is done", Choice<DoneInputAction>{}, &W::after),
      key("move_to", "folder for done inputs; only with after: move", AbsolutePath{true},
          &W::move_to),
      key("on_change", "what to do with outputs made with other settings", Choice<OnChange>{},
          &W::on_change),
      key("links", "symbolic links to follow below input; all: also links to folders",
          Choice<files::LinkPolicy>{}, &W::links),
      key("exclude", "folders below input to skip", RelativeFolders{}, &W::exclude),
      key("quarantine.keep_days", "days to keep a quarantined input; 0: forever", Integer{0, 36500},
          &W::quarantine, &QuarantineSettings::keep_days),
      key("quarantine.max_mb", "maximum MiB of the quarantine; 0: no limit", Integer{0, 16777216},
          &W::quarantine, &QuarantineSettings::max_mb),
  };
  for (const SettingKey<Settings>& setting : settings_table()) {
    const std::string_view section = section_of(setting.path);
    const auto last = std::find_if(keys.rbegin(), keys.rend(), [section](auto& key) {
      return !section.empty() && section_of(key.path) == section;
    });
    keys.insert(last == keys.rend() ? keys.end() : last.base(), watch_key(setting));
  }
  return KeyTable<WatchSettings>(std::move(keys));
}

const KeyTable<WatchSettings>& watch_table() {
  static const KeyTable<WatchSettings> table = make_watch_table();
  return table;
}

const Assignment* find_assignment(const WatchOverrides& layer, std::string_view key) {
  const auto found =
      std::find_if(layer.assignments.begin(), layer.assignments.end(),
                   [key](const Assignment& assignment) { return assignment.key == key; });
  return found == layer.assignments.end() ? nullptr : &*found;
}

std::string watch_location(std::size_t index) {
  return "watches[" + std::to_string(index + 1) + "]";
}

constexpr const char* kCommandLine = "command line";  // the location of its watch

[[noreturn]] void fail(const WatchOverrides& layer, std::string_view key,
                       const std::string& message) {
  const Assignment* assignment = find_assignment(layer, key);
  const std::string prefix = layer.location == kCommandLine ? "" : layer.location + ".";
  throw SettingsError((assignment != nullptr ? assignment->location : prefix + std::string(key)) +
                      ": " + message);
}

void check_watch(const WatchOverrides& layer, const WatchSettings& watch) {
  if (watch.input.empty()) fail(layer, "input.folder", "is missing");
  if (watch.output.empty()) fail(layer, "output.folder", "is missing");
  if (watch.settings.ledger.is_none()) {
    fail(layer, "ledger.file", "must not be none: a watch needs a ledger");
  }
  if (!watch.settings.output.writes_files())
    fail(layer, "output.format", "must not be none without output.factors: a watch writes outputs");
  const bool moves = watch.after == DoneInputAction::move;
  if (!moves && !watch.move_to.empty()) fail(layer, "move_to", "is only allowed with after: move");
  if (!moves) return;
  if (watch.move_to.empty()) fail(layer, "move_to", "is missing; after: move requires it");
  if (normalized_path(watch.move_to) == normalized_path(watch.input))
    fail(layer, "move_to", "must not be the input folder");
  if (normalized_path(watch.move_to) == normalized_path(watch.output))
    fail(layer, "move_to", "must not be the output folder");
}

void check_watches(const std::vector<WatchOverrides>& layers,
                   const std::vector<WatchSettings>& watches) {
  // Index of the first watch with the folder or file.
  std::map<std::filesystem::path, std::size_t> inputs, outputs, ledgers;
  std::map<std::string, std::size_t> names;
  const auto first = [](auto& seen, const std::filesystem::path& path, std::size_t i) {
    return seen.emplace(normalized_path(path), i).first->second;
  };
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const WatchSettings& watch = watches[i];
    if (const std::size_t other = names.emplace(watch.name, i).first->second;
        other != i && !watch.name.empty()) {
      fail(layers[i], "name", "is also the name of " + watch_location(other));
    }
    if (const auto other = first(inputs, watch.input, i);
        other != i && (!watch.keeps_inputs() || !watches[other].keeps_inputs())) {
      fail(layers[i], "input.folder",
           "is also the input folder of " + watch_location(other) + "; set after: keep in both");
    }
    if (const auto other = first(outputs, watch.output, i); other != i) {
      fail(layers[i], "output.folder", "is also the output folder of " + watch_location(other));
    }
    if (watch.settings.ledger.is_auto()) continue;
    if (const auto other = first(ledgers, watch.settings.ledger.file, i); other != i) {
      fail(layers[i], "ledger.file", "is also the ledger of " + watch_location(other));
    }
  }
}

/// Returns the name of the input folder, with a dash for each character that is not allowed.
std::string name_of_input(const std::filesystem::path& input) {
  std::string name = normalized_path(input).filename().native().substr(0, WatchName::kMaxBytes - 4);
  std::replace_if(
      name.begin(), name.end(), [](char c) { return !WatchName::is_allowed(c); }, '-');
  return name.empty() ? "watch" : name;
}

/// Names the watches without a name after their input folders. If the name is taken: with -2, -3 …
void set_default_names(std::vector<WatchSettings>& watches) {
  std::set<std::string> names;
  for (const WatchSettings& watch : watches) names.insert(watch.name);
  for (WatchSettings& watch : watches) {
    if (!watch.name.empty()) continue;
    const std::string name = name_of_input(watch.input);
    watch.name = name;
    for (int number = 2; !names.insert(watch.name).second; ++number)
      watch.name = name + "-" + std::to_string(number);
  }
}

WatchSettings resolve_watch(const Settings& settings, const WatchOverrides& layer) {
  WatchSettings watch;
  watch.settings = settings;
  watch.location = layer.location;
  for (const Assignment& assignment : layer.assignments) {
    watch_table().find(assignment.key)->read(watch, assignment.texts);
  }
  return watch;
}

std::vector<WatchSettings> resolve_watch(const Settings& settings,
                                         const std::vector<WatchOverrides>& layers) {
  std::vector<WatchSettings> watches;
  for (const WatchOverrides& layer : layers) {
    watches.push_back(resolve_watch(settings, layer));
    check_watch(layer, watches.back());
  }
  check_watches(layers, watches);
  set_default_names(watches);
  return watches;
}

WatchOverrides read_watch(const TextSource& origin, const YAML::Node& map,
                          const std::string& name) {
  WatchSettings scratch;
  SettingsReader reader(origin, watch_table(), scratch, name);
  reader.read(map);
  return {origin.location(map.Mark()) + ": " + name, std::move(reader).assignments()};
}

void read_watches(Configuration& configuration, const TextSource& origin, const YAML::Node& list) {
  if (!list.IsSequence() && !list.IsNull()) {
    throw std::invalid_argument(found(list) + " is not " + kExpectedWatchList);
  }
  std::vector<WatchOverrides> layers;
  for (const YAML::Node& map : list) {
    layers.push_back(read_watch(origin, map, watch_location(layers.size())));
  }
  resolve_watch({}, layers);  // finds errors that do not depend on other settings
  configuration.watches = std::move(layers);
}

/// Prints a watch as an item of a YAML list.
std::string print_watch(const WatchOverrides& layer) {
  const std::string yaml = print(watch_table(), resolve_watch({}, layer), [&](auto& key) {
    return find_assignment(layer, key.path) != nullptr ||
           settings_table().find(key.path) == nullptr;
  });
  std::string item;
  for (std::size_t start = 0; start < yaml.size();) {
    const std::size_t end = yaml.find('\n', start) + 1;
    item.append(start == 0 ? "  - " : "    ").append(yaml, start, end - start);
    start = end;
  }
  return item;
}

std::string print_watches(const Configuration& configuration) {
  if (configuration.watches.empty()) return "[]";
  std::string list;
  for (const WatchOverrides& layer : configuration.watches) list += print_watch(layer);
  return list;
}

KeyTable<Configuration> make_configuration_table() {
  std::vector<SettingKey<Configuration>> keys;
  for (const SettingKey<Settings>& setting : settings_table()) {
    keys.push_back(nested_key(setting, &Configuration::settings));
  }
  keys.push_back({.path = "watches",
                  .comment = "watched folders of eckart watch; see watch.yaml",
                  .expected = kExpectedWatchList,
                  .accepts_list = true,
                  .read = {},
                  .print = print_watches,
                  .read_node = read_watches});
  return KeyTable<Configuration>(std::move(keys));
}

const KeyTable<Configuration>& configuration_table() {
  static const KeyTable<Configuration> table = make_configuration_table();
  return table;
}

}  // namespace

Configuration load_configuration(const std::filesystem::path& path, Configuration base) {
  const TextSource origin{path.string(), true};
  SettingsReader(origin, configuration_table(), base).read(parse(origin, read_text(path)));
  return base;
}

WatchOverrides watch_of(const std::filesystem::path& input, const std::filesystem::path& output) {
  const auto assignment = [](const char* key, const std::filesystem::path& folder) {
    return Assignment{key, {std::filesystem::absolute(folder).native()}, kCommandLine};
  };
  return {kCommandLine, {assignment("input.folder", input), assignment("output.folder", output)}};
}

std::vector<WatchSettings> resolve_watches(const Configuration& configuration) {
  return resolve_watch(configuration.settings, configuration.watches);
}

std::string to_yaml(const Configuration& configuration) {
  return print(configuration_table(), configuration);
}

}  // namespace eckart::settings
