#include "settings/watches.hpp"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "settings/printer.hpp"
#include "settings/reader.hpp"

namespace eckart::settings {
namespace {

constexpr const char* kListExpected = "a list of maps, each with input and output";

KeyOf<Watch> short_for_section(KeyOf<Watch> key) {
  key.stands_for_section = true;
  return key;
}

/// Is read, but not printed.
KeyOf<Watch> deprecated(KeyOf<Watch> key) {
  key.is_deprecated = true;
  return key;
}

KeyOf<Watch> key_of_watch(const KeyOf<Settings>& setting) {
  KeyOf<Watch> key = key_of_part(setting, &Watch::settings);
  if (!setting.per_watch) {
    key.read = [](Watch&, const std::vector<std::string>&) {
      throw std::invalid_argument("is for all watches: say it at the top");
    };
  }
  return key;
}

/// Those of a watch alone, then the settings; but those of a section together.
Table<Watch> make_watch_table() {
  using W = Watch;
  std::vector<KeyOf<Watch>> keys = {
      key("input", "images come from here, and from the folders below", AbsolutePath{}, &W::input),
      short_for_section(key("output.folder", "outputs go here, in folders as those below input",
                            AbsolutePath{}, &W::output)),
      key("settle_ms", "a file is ready when it was still for so long", Integer{0, 3600000},
          &W::settle_ms),
      key("patience_s", "how long what does not decode is tried again: it may be half written",
          Integer{0, 86400}, &W::patience_s),
      key("rescan_s", "between full scans, which find what events missed", Integer{1, 86400},
          &W::rescan_s),
      key("poll_s", "likewise where events cannot be trusted: NFS, SMB, FUSE, overlay",
          Integer{1, 86400}, &W::poll_s),
      key("after", "what becomes of an input that is done", Choice{{"keep", "move", "delete"}},
          &W::after),
      key("move_to", "where inputs go; with after: move, and only then", AbsolutePath{true},
          &W::move_to),
      key("on_change", "what becomes of results that were made with other settings",
          Choice{{"keep", "redo"}}, &W::on_change),
      key("links", "symbolic links below input that are followed; all: to folders, too",
          Choice{{"none", "files", "all"}}, &W::links),
      deprecated(key("follow_links", "use links", Flag{}, &W::follow_links)),
      key("exclude", "folders below input that are not looked into", FoldersBelow{}, &W::exclude),
      key("quarantine.keep_days", "days that a bad input stays there; 0: for ever",
          Integer{0, 36500}, &W::quarantine, &Quarantine::keep_days),
      key("quarantine.max_mb", "most MiB that stay there; 0: no limit", Integer{0, 16777216},
          &W::quarantine, &Quarantine::max_mb),
  };
  for (const KeyOf<Settings>& setting : settings_table()) {
    const std::string_view section = section_of(setting.path);
    const auto last = std::find_if(keys.rbegin(), keys.rend(), [section](auto& key) {
      return !section.empty() && section_of(key.path) == section;
    });
    keys.insert(last == keys.rend() ? keys.end() : last.base(), key_of_watch(setting));
  }
  return Table<Watch>(std::move(keys));
}

const Table<Watch>& watch_table() {
  static const Table<Watch> table = make_watch_table();
  return table;
}

const Assignment* find_said(const WatchLayer& layer, std::string_view key) {
  const auto found =
      std::find_if(layer.assignments.begin(), layer.assignments.end(),
                   [key](const Assignment& assignment) { return assignment.key == key; });
  return found == layer.assignments.end() ? nullptr : &*found;
}

std::string name_of(std::size_t index) { return "watches[" + std::to_string(index + 1) + "]"; }

[[noreturn]] void fail(const WatchLayer& layer, std::string_view key, const std::string& message) {
  const Assignment* said = find_said(layer, key);
  throw SettingsError((said != nullptr ? said->place : layer.place + "." + std::string(key)) +
                      ": " + message);
}

void check_alone(const WatchLayer& layer, const Watch& watch) {
  if (watch.input.empty()) fail(layer, "input", "is missing");
  if (watch.output.empty()) fail(layer, "output.folder", "is missing");
  if (watch.settings.ledger == "none") {
    fail(layer, "ledger.file", "is none, and a watch needs its ledger");
  }
  if (find_said(layer, "follow_links") && find_said(layer, "links"))
    fail(layer, "follow_links", "is the old name of links: remove it");
  const bool moves = watch.after == "move";
  if (!moves && !watch.move_to.empty()) fail(layer, "move_to", "is only for after: move");
  if (!moves) return;
  if (watch.move_to.empty()) fail(layer, "move_to", "is missing, and after: move needs it");
  if (plain(watch.move_to) == plain(watch.input)) fail(layer, "move_to", "is the input as well");
  if (plain(watch.move_to) == plain(watch.output)) fail(layer, "move_to", "is the output as well");
}

void check_together(const std::vector<WatchLayer>& layers, const std::vector<Watch>& watches) {
  std::map<std::filesystem::path, std::size_t> inputs, outputs, ledgers;  // who was first
  const auto first = [](auto& seen, const std::filesystem::path& path, std::size_t i) {
    return seen.emplace(plain(path), i).first->second;
  };
  for (std::size_t i = 0; i < watches.size(); ++i) {
    const Watch& watch = watches[i];
    if (const auto other = first(inputs, watch.input, i);
        other != i && (watch.after != "keep" || watches[other].after != "keep")) {
      fail(layers[i], "input", "is that of " + name_of(other) + ", and not both have after: keep");
    }
    if (const auto other = first(outputs, watch.output, i); other != i) {
      fail(layers[i], "output.folder", "is that of " + name_of(other));
    }
    if (watch.settings.ledger == "auto") continue;
    if (const auto other = first(ledgers, watch.settings.ledger, i); other != i) {
      fail(layers[i], "ledger.file", "is that of " + name_of(other));
    }
  }
}

Watch laid_over(const Settings& settings, const WatchLayer& layer) {
  Watch watch;
  watch.settings = settings;
  watch.place = layer.place;
  for (const Assignment& assignment : layer.assignments) {
    watch_table().find(assignment.key)->read(watch, assignment.texts);
  }
  watch.says_follow_links = find_said(layer, "follow_links") != nullptr;
  if (watch.follow_links) watch.links = "all";
  return watch;
}

std::vector<Watch> laid_over(const Settings& settings, const std::vector<WatchLayer>& layers) {
  std::vector<Watch> watches;
  for (const WatchLayer& layer : layers) {
    watches.push_back(laid_over(settings, layer));
    check_alone(layer, watches.back());
  }
  check_together(layers, watches);
  return watches;
}

WatchLayer read_watch(const Origin& origin, const YAML::Node& map, const std::string& name) {
  Watch scratch;
  Reader reader(origin, watch_table(), scratch, name);
  reader.read(map);
  return {origin.place(map.Mark()) + ": " + name, std::move(reader).assignments()};
}

void read_watches(Configuration& configuration, const Origin& origin, const YAML::Node& list) {
  if (!list.IsSequence() && !list.IsNull()) {
    throw std::invalid_argument(found(list) + " is not " + kListExpected);
  }
  std::vector<WatchLayer> layers;
  for (const YAML::Node& map : list) {
    layers.push_back(read_watch(origin, map, name_of(layers.size())));
  }
  laid_over({}, layers);  // what is wrong whatever the settings
  configuration.watches = std::move(layers);
}

/// As an item of a list.
std::string print_watch(const WatchLayer& layer) {
  const std::string yaml = print(watch_table(), laid_over({}, layer), [&](auto& key) {
    if (key.is_deprecated) return false;
    return find_said(layer, key.path) != nullptr || settings_table().find(key.path) == nullptr;
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
  for (const WatchLayer& layer : configuration.watches) list += print_watch(layer);
  return list;
}

Table<Configuration> make_configuration_table() {
  std::vector<KeyOf<Configuration>> keys;
  for (const KeyOf<Settings>& setting : settings_table()) {
    keys.push_back(key_of_part(setting, &Configuration::settings));
  }
  keys.push_back({.path = "watches",
                  .comment = "folders for eckart watch, as in watch.yaml",
                  .expected = kListExpected,
                  .takes_list = true,
                  .read = {},
                  .print = print_watches,
                  .read_node = read_watches});
  return Table<Configuration>(std::move(keys));
}

const Table<Configuration>& configuration_table() {
  static const Table<Configuration> table = make_configuration_table();
  return table;
}

}  // namespace

Configuration load_configuration(const std::filesystem::path& path, Configuration base) {
  const Origin origin{path.string(), true};
  Reader(origin, configuration_table(), base).read(parse(origin, read_text(path)));
  return base;
}

std::vector<Watch> watches_of(const Configuration& configuration) {
  return laid_over(configuration.settings, configuration.watches);
}

std::string to_yaml(const Configuration& configuration) {
  return print(configuration_table(), configuration);
}

}  // namespace eckart::settings
