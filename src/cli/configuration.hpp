#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "core/rank_spec.hpp"
#include "settings/watches.hpp"

namespace eckart::cli {

inline constexpr const char* kSystemConfig = "/etc/eckart/eckart.yaml";

/// Sources of settings besides the system file.
struct ConfigArgs {
  std::filesystem::path file;
  std::vector<std::string> assignments;
  bool print = false;
};

/// Adds --config, --set and, if `has_print_option`, --print-config.
void add_config_options(CLI::App& command, ConfigArgs& args, bool has_print_option = true);

/// A rank of a flag that cannot be parsed.
class RankOptionError : public std::invalid_argument {
 public:
  RankOptionError(std::string flag, const RankSpecError& error)
      : std::invalid_argument(error), flag_(std::move(flag)), error_(error) {}
  const std::string& flag() const { return flag_; }
  const RankSpecError& error() const { return error_; }

 private:
  std::string flag_;
  RankSpecError error_;
};

/// Adds -k.
CLI::Option* add_rank_option(CLI::App& command, std::optional<std::string>& ranks);
/// Applies the value of -k. Throws RankOptionError.
void apply_rank_option(settings::Settings& settings, const std::optional<std::string>& ranks);

/// Adds --name. apply_flag() applies its value.
CLI::Option* add_name_option(CLI::App& command, std::optional<std::string>& name);
/// Adds --peak. apply_flag() applies its value.
CLI::Option* add_peak_option(CLI::App& command, std::optional<std::string>& peak);

/// Flags of the preparation of inputs.
struct PreparationArgs {
  bool gray = false;
  std::optional<std::string> color, chroma_rank, size, normalize;
};

/// Adds --color and --chroma-rank to a group of the help.
void add_color_options(CLI::App& command, PreparationArgs& args, const std::string& group);

/// Adds --gray, --size and --normalize to a group of the help.
void add_preparation_options(CLI::App& command, PreparationArgs& args, const std::string& group);

/// Reads the configuration. Later sources override earlier ones: `defaults`, system file, --config,
/// --set. Throws settings::SettingsError.
settings::Configuration read_configuration(const ConfigArgs& args,
                                           const std::filesystem::path& system_file = kSystemConfig,
                                           const settings::Settings& defaults = {});

/// Applies a flag as a --set assignment. An error message names the flag. Throws FatalError(usage)
/// or RankOptionError.
void apply_flag(settings::Settings& settings, const std::string& flag, const std::string& key,
                const std::optional<std::string>& value);
void apply_preparation_flags(settings::Settings& settings, const PreparationArgs& args);

}  // namespace eckart::cli
