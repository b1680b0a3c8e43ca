#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <string>
#include <vector>

#include "settings/watches.hpp"

namespace eckart::cli {

inline constexpr const char* kSystemConfig = "/etc/eckart/eckart.yaml";

/// Where settings come from, beside the system file.
struct ConfigArgs {
  std::filesystem::path file;
  std::vector<std::string> assignments;
  bool print = false;
};

/// --config, --set and, where it makes sense, --print-config.
void add_config_options(CLI::App& command, ConfigArgs& args, bool has_print_option = true);

/// Defaults < system file < --config < --set. Throws settings::SettingsError.
settings::Configuration read_configuration(
    const ConfigArgs& args, const std::filesystem::path& system_file = kSystemConfig);

}  // namespace eckart::cli
