#include "cli/configuration.hpp"

#include <system_error>

#include "cli/enum_option.hpp"
#include "cli/existing_path.hpp"
#include "core/error.hpp"
#include "core/rank_spec.hpp"
#include "settings/value_types.hpp"

namespace eckart::cli {

void add_config_options(CLI::App& command, ConfigArgs& args, bool has_print_option) {
  command.add_option("--config", args.file, "YAML file with settings")
      ->type_name("FILE")
      ->group("Settings");
  command
      .add_option("--set", args.assignments,
                  "Set one key of the settings, such as output.jpeg_quality=90; may be repeated")
      ->type_name("KEY=VALUE")
      ->group("Settings");
  if (has_print_option)
    command.add_flag("--print-config", args.print, "Print the effective settings and exit")
        ->group("Settings");
}

CLI::Option* add_rank_option(CLI::App& command, std::optional<std::string>& ranks) {
  return command
      .add_option("-k,--rank", ranks,
                  "Rank, or ranks separated by commas: one output each. A rank is one of " +
                      std::string(kRankGrammar))
      ->type_name("RANKS")
      ->default_str(to_string(settings::Settings{}.ranks.front()));
}

void apply_rank_option(settings::Settings& settings, const std::optional<std::string>& ranks) {
  try {
    if (ranks) settings.ranks = parse_ranks(*ranks);
  } catch (const RankSpecError& error) {
    throw RankOptionError("--rank", error);
  }
}

CLI::Option* add_name_option(CLI::App& command, std::optional<std::string>& name) {
  return command
      .add_option("--name", name,
                  "File names of the outputs, such as {stem}.{label}.{ext} for a.k20.png; other "
                  "fields are {rank} and {name}")
      ->type_name("PATTERN")
      ->default_str("{stem}.{ext}, or {stem}.{label}.{ext} for several ranks");
}

CLI::Option* add_peak_option(CLI::App& command, std::optional<std::string>& peak) {
  return command
      .add_option("--peak", peak,
                  "Peak of PSNR and SSIM: auto, dtype (255 or 65535), range (max - min of the "
                  "input), or a number, such as 4095 for 12-bit data in 16 bits")
      ->type_name("PEAK")
      ->default_str(to_string(settings::Settings{}.quality.peak));
}

void add_color_options(CLI::App& command, PreparationArgs& args, const std::string& group) {
  add_enum_name_option(command, "--color", args.color, "Matrices of a color image",
                       settings::Settings{}.color)
      ->group(group);
  command
      .add_option("--chroma-rank", args.chroma_rank,
                  "Rank of Cb and Cr with --color ycbcr; default: that of --rank")
      ->type_name("RANK")
      ->group(group);
}

void add_preparation_options(CLI::App& command, PreparationArgs& args, const std::string& group) {
  command.add_flag("--gray", args.gray, "Convert color images to gray")->group(group);
  command
      .add_option("--size", args.size,
                  "Resize images with Lanczos to WIDTHxHEIGHT, or to max:N for the longer side")
      ->type_name("SIZE")
      ->group(group);
  add_enum_name_option(command, "--normalize", args.normalize,
                       "Map the samples of each image to the whole range of its depth",
                       settings::InputSettings{}.normalize)
      ->group(group);
}

settings::Configuration read_configuration(const ConfigArgs& args,
                                           const std::filesystem::path& system_file,
                                           const settings::Settings& defaults) {
  settings::Configuration configuration;
  configuration.settings = defaults;
  std::error_code unreadable;  // ignored: the user may not be allowed to read the folder
  if (std::filesystem::exists(system_file, unreadable))
    configuration = settings::load_configuration(system_file, configuration);
  if (!args.file.empty()) {
    check_exists(args.file);
    configuration = settings::load_configuration(args.file, configuration);
  }
  for (const std::string& assignment : args.assignments)
    settings::apply(configuration.settings, assignment);
  return configuration;
}

void apply_flag(settings::Settings& settings, const std::string& flag, const std::string& key,
                const std::optional<std::string>& value) {
  if (!value) return;
  const std::string assignment = key + "=" + settings::Text{}.print(*value);
  try {
    settings::apply(settings, assignment);
  } catch (const settings::RankSettingError& error) {
    throw RankOptionError(flag, error.error());
  } catch (const settings::SettingsError& error) {
    std::string what = error.what();
    const std::string place = "--set " + settings::one_line(assignment);
    if (what.starts_with(place)) what.replace(0, place.size(), flag + " " + *value);
    throw FatalError(ExitCode::usage, what);
  }
}

void apply_preparation_flags(settings::Settings& settings, const PreparationArgs& args) {
  if (args.gray) settings.input.gray = true;
  apply_flag(settings, "--color", "color", args.color);
  apply_flag(settings, "--chroma-rank", "chroma_rank", args.chroma_rank);
  apply_flag(settings, "--size", "input.size", args.size);
  apply_flag(settings, "--normalize", "input.normalize", args.normalize);
}

}  // namespace eckart::cli
