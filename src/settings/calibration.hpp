#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "core/solver_costs.hpp"
#include "settings/choices.hpp"

namespace eckart::settings {

/// Where `eckart doctor --calibrate` stores what it measures, and where it is read first:
/// $XDG_CONFIG_HOME/eckart/calibration.yaml, or that in ~/.config. Empty where there is no home.
std::filesystem::path user_calibration_file();

/// Throws SettingsError that names file, line and key.
Calibration read_calibration(const std::filesystem::path& file);

/// As read_calibration() reads it back.
std::string to_yaml(const Calibration& calibration);

struct LoadedCalibration {
  Calibration costs;
  std::vector<std::string> warnings;  ///< why a file that was found is of no use
};
/// What the settings' key asks for. auto: the user's file, then that in /etc/eckart, as far as they
/// are there; none; or a file. Throws SettingsError for a file that was named.
LoadedCalibration load_calibration(const FileChoice& choice);

}  // namespace eckart::settings
