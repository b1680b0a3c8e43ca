#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/solver_costs.hpp"
#include "settings/choices.hpp"

namespace eckart::settings {

/// Returns the file that `eckart doctor --calibrate` writes and that is read first:
/// $XDG_CONFIG_HOME/eckart/calibration.yaml, by default in ~/.config. Empty if there is no home
/// folder.
std::filesystem::path user_calibration_file();

/// Throws SettingsError with file, line and key.
Calibration read_calibration(const std::filesystem::path& file);

/// Returns the YAML text that read_calibration() reads.
std::string to_yaml(const Calibration& calibration);

struct LoadedCalibration {
  Calibration costs;
  std::vector<std::string> warnings;  ///< errors of ignored files
};
/// Loads the calibration that the setting selects: `auto` reads the user's file and then the file
/// in /etc/eckart, if they exist; `none` reads nothing; otherwise the named file is read. Throws
/// SettingsError for errors of a named file.
LoadedCalibration load_calibration(const FileChoice& choice);

}  // namespace eckart::settings
