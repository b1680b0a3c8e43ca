#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "cli/configuration.hpp"
#include "settings/settings.hpp"
#include "settings/watches.hpp"

namespace eckart::cli {

/// Flags that say how each image is processed: they are settings.
struct ProcessingArgs {
  ConfigArgs config;
  std::optional<std::string> rank, backend, solver, format, name, residual, factors, pack, peak;
  PreparationArgs preparation;
  bool deterministic = false, wait_for_space = false;
};

/// Reads the configuration; flags override other settings. Throws as read_configuration() and
/// apply_flag().
settings::Configuration read_configuration(const ProcessingArgs& args);

/// Adds the flags of the preparation, the reconstruction and the configuration.
void add_reconstruction_options(CLI::App& command, ProcessingArgs& args);
/// Adds the flags of the format and the names of outputs.
void add_format_options(CLI::App& command, ProcessingArgs& args);
/// `what`: the description.
void add_pack_option(CLI::App& command, ProcessingArgs& args, const std::string& what);
void add_wait_for_space_option(CLI::App& command, ProcessingArgs& args);

/// Throws FatalError(usage) if residuals are to be written but no images.
void check_residual(const ProcessingArgs& args, const settings::OutputSettings& output);

}  // namespace eckart::cli
