#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <vector>

#include "app/service.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/enum_option.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/run_supervised.hpp"
#include "io/input_guard.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

struct WatchArgs {
  std::filesystem::path input, output;
  std::optional<std::string> rank, format, name;
  PreparationArgs preparation;
  ConfigArgs config;
  bool check_configuration = false;
  int verbose = 0, quiet = 0;
};

/// Throws FatalError if only one of FOLDER and -o is given, FOLDER is no folder, or -o is in it.
void check_folders(const WatchArgs& args) {
  if (args.input.empty() && args.output.empty()) return;
  if (args.input.empty())
    throw FatalError(ExitCode::usage, "no input folder: give eckart watch FOLDER -o FOLDER");
  if (args.output.empty()) throw FatalError(ExitCode::usage, "no output folder: give -o FOLDER");
  check_exists(args.input);
  std::error_code error;
  const bool is_folder = std::filesystem::is_directory(args.input, error);
  const std::string name = text::printable(args.input.native());
  if (error == std::errc::permission_denied)
    throw FatalError(ExitCode::no_permission, name + ": " + error.message());
  if (!is_folder)
    throw FatalError(ExitCode::usage, name + " is not a folder; eckart run processes single files");
  const io::InputGuard refuses_output_in_input({args.input}, args.output);
}

void log_warnings(const std::vector<std::string>& warnings) {
  for (const std::string& warning : warnings) spdlog::warn("{}", warning);
}

/// Flags override other settings. FOLDER and -o replace the watches of the files.
settings::Configuration read_configuration(const WatchArgs& args) {
  settings::Configuration configuration = read_configuration(args.config);
  apply_rank_option(configuration.settings, args.rank);
  apply_flag(configuration.settings, "--format", "output.format", args.format);
  apply_flag(configuration.settings, "--name", "output.name", args.name);
  apply_preparation_flags(configuration.settings, args.preparation);
  if (!args.input.empty()) {
    configuration.watches.clear();
    configuration.watches.push_back(settings::watch_of(args.input, args.output));
  }
  return configuration;
}

/// Throws FatalError if the settings come from a pipe: the service would wait for it.
settings::Configuration read_configuration_again(const WatchArgs& args) {
  std::error_code none;
  if (std::filesystem::is_fifo(args.config.file, none))
    throw FatalError(ExitCode::usage,
                     text::printable(args.config.file.native()) + ": a pipe cannot be read again");
  settings::Configuration configuration = read_configuration(args);
  log_warnings(app::check_configuration(configuration));
  return configuration;
}

void run_service(const WatchArgs& args, const settings::Configuration& configuration) {
  run_supervised(
      configuration, [&] { return read_configuration_again(args); },
      [](const settings::Configuration& checked, double last_done_unix_s) {
        return std::make_unique<app::Service>(checked, last_done_unix_s);
      });
}

ExitCode watch(const WatchArgs& args) {
  start_service(args.verbose - args.quiet);
  check_folders(args);
  const settings::Configuration configuration = read_configuration(args);
  if (args.config.print) {
    std::fputs(settings::to_yaml(configuration).c_str(), stdout);
    return ExitCode::ok;
  }
  log_warnings(app::check_configuration(configuration));
  if (args.check_configuration) {
    const std::size_t watches = settings::resolve_watches(configuration).size();
    std::printf("no errors: %zu %s\n", watches, watches == 1 ? "watch" : "watches");
    return ExitCode::ok;
  }
  run_service(args, configuration);
  return ExitCode::ok;
}

}  // namespace

void add_watch(CLI::App& app, Action& action) {
  auto args = std::make_shared<WatchArgs>();
  CLI::App* command =
      app.add_subcommand("watch", "Reconstruct every image that arrives in a folder")
          ->group(kProcessingCommands);
  command->add_option("FOLDER", args->input,
                      "Folder to watch, recursively; without it, the watches of the settings");
  command->add_option("-o,--output", args->output, "Output folder; created if missing")
      ->type_name("FOLDER")
      ->group("Output");
  add_color_options(*command, args->preparation, "Preparation");
  add_preparation_options(*command, args->preparation, "Preparation");
  add_rank_option(*command, args->rank)->group("Output");
  add_enum_name_option(*command, "--format", args->format, "File format of the outputs",
                       settings::OutputSettings{}.format, file_formats())
      ->group("Output");
  add_name_option(*command, args->name)->group("Output");
  add_config_options(*command, args->config);
  command->add_flag("--check", args->check_configuration, "Only check the configuration")
      ->group("Settings");
  command
      ->add_flag("-v,--verbose", args->verbose,
                 "Log each finished image; given twice, each batch too")
      ->group("Log");
  command->add_flag("-q,--quiet", args->quiet, "Log only warnings; given twice, only errors")
      ->group("Log");
  describe(*command,
           {.usage = {"FOLDER -o FOLDER [OPTIONS]", "[--config FILE] [OPTIONS]"},
            .examples = {{"Watch one folder", "eckart watch in -o out --rank 20"},
                         {"Check a settings file with several watches",
                          "eckart watch --config eckart.yaml --check"},
                         {"Watch its folders, and log each image",
                          "eckart watch --config eckart.yaml -v"}},
            .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::no_input, ExitCode::unavailable,
                           ExitCode::cannot_create, ExitCode::io_error, ExitCode::temporary,
                           ExitCode::no_permission, ExitCode::configuration, ExitCode::interrupted,
                           ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return watch(*args); }; });
}

}  // namespace eckart::cli
