#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "files/link_policy.hpp"
#include "settings/settings.hpp"

namespace eckart::settings {

struct QuarantineSettings {
  int keep_days = 30;          ///< 0: for ever
  std::int64_t max_mb = 1024;  ///< 0: no limit
};

/// One watched folder; what the keys mean and may be is in watches.cpp.
struct WatchSettings {
  std::filesystem::path input;   ///< absolute
  std::filesystem::path output;  ///< absolute
  int settle_ms = 1000;
  int retry_timeout_s = 30;
  int rescan_s = 300;
  int poll_s = 5;
  DoneInputAction after = DoneInputAction::keep;
  OnChange on_change = OnChange::keep;
  std::filesystem::path move_to;  ///< absolute with after: move, else empty
  LinkPolicy links = LinkPolicy::none;
  std::vector<std::filesystem::path> exclude;  ///< relative to input, lexically normal, without ..
  QuarantineSettings quarantine;
  Settings settings;     ///< those of the whole configuration, with this watch's own over them
  std::string location;  ///< for messages: "eckart.yaml:5: watches[1]"

  bool keeps_inputs() const { return after == DoneInputAction::keep; }
};

/// A key, and what was said of it.
struct Assignment {
  std::string key;                 ///< "output.format"
  std::vector<std::string> texts;  ///< the one, or those of a list
  std::string location;            ///< "eckart.yaml:7: watches[1].output.format"
};

/// What a file says of one watch. It lies over the final settings of the whole configuration, and
/// waits here until they are known. Made by load_configuration(), by which it is checked.
struct WatchOverrides {
  std::string location;  ///< "eckart.yaml:5: watches[1]"
  std::vector<Assignment> assignments;
};

struct Configuration {
  Settings settings;
  std::vector<WatchOverrides> watches;
};

/// `base`, with what the YAML file says over it; its list of watches, where it has one, replaces
/// that of `base`. Throws SettingsError.
Configuration load_configuration(const std::filesystem::path& path, Configuration base = {});

/// To be asked for when all files and --set are in `configuration.settings`: those go below what a
/// watch says itself. Throws SettingsError where they make a watch impossible.
std::vector<WatchSettings> resolve_watches(const Configuration& configuration);

/// Every key with a line of comment, of a watch's settings only those it says itself.
/// load_configuration() reads the same back.
std::string to_yaml(const Configuration& configuration);

}  // namespace eckart::settings
