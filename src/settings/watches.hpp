#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/link_policy.hpp"
#include "settings/settings.hpp"

namespace eckart::settings {

struct QuarantineSettings {
  int keep_days = 30;          ///< 0: forever
  std::int64_t max_mb = 1024;  ///< 0: no limit
};

/// One watched folder. watches.cpp describes the keys and their allowed values.
struct WatchSettings {
  std::string name;              ///< unique; if not set, from the input folder
  std::filesystem::path input;   ///< absolute
  std::filesystem::path output;  ///< absolute
  int settle_ms = 1000;
  int retry_timeout_s = 30;
  int rescan_s = 300;
  int poll_s = 5;
  DoneInputAction after = DoneInputAction::keep;
  OnChange on_change = OnChange::keep;
  std::filesystem::path move_to;  ///< absolute with after: move, else empty
  files::LinkPolicy links = files::LinkPolicy::none;
  std::vector<std::filesystem::path> exclude;  ///< relative to input, lexically normal, without ..
  QuarantineSettings quarantine;
  Settings settings;     ///< of the whole configuration, with the overrides of this watch
  std::string location;  ///< for messages: "eckart.yaml:5: watches[1]"

  bool keeps_inputs() const { return after == DoneInputAction::keep; }
};

/// A key and its assigned value.
struct Assignment {
  std::string key;                 ///< "output.format"
  std::vector<std::string> texts;  ///< one text, or the texts of a list
  std::string location;            ///< "eckart.yaml:7: watches[1].output.format"
};

/// The settings that a file assigns to one watch. They override the final settings of the whole
/// configuration, and are stored here until these are known. load_configuration() makes and checks
/// them.
struct WatchOverrides {
  std::string location;  ///< "eckart.yaml:5: watches[1]"
  std::vector<Assignment> assignments;
};

struct Configuration {
  Settings settings;
  std::vector<WatchOverrides> watches;
};

/// Returns `base`, overridden by the YAML file. If the file has a list of watches, it replaces the
/// list of `base`. Throws SettingsError.
Configuration load_configuration(const std::filesystem::path& path, Configuration base = {});

/// Returns a watch with these folders, as a file with only `input` and `output` describes it.
WatchOverrides watch_of(const std::filesystem::path& input, const std::filesystem::path& output);

/// Call it after all files and --set are applied to `configuration.settings`, which each watch
/// overrides. Throws SettingsError if the resulting settings of a watch are invalid.
std::vector<WatchSettings> resolve_watches(const Configuration& configuration);

/// Prints every key with one line of comment; for a watch, only the keys that it overrides.
/// load_configuration() reads the text back.
std::string to_yaml(const Configuration& configuration);

}  // namespace eckart::settings
