#include <spdlog/spdlog.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/run.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/enum_option.hpp"
#include "cli/execute_run.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "core/instant.hpp"
#include "core/rank_spec.hpp"
#include "logging/log.hpp"
#include "logging/progress.hpp"
#include "reports/measurement_summary.hpp"
#include "reports/run_report_text.hpp"

namespace eckart::cli {
namespace {

constexpr const char* kDefaultRanks =
    "1,2,5,10,20,50,100,energy:0.9,energy:0.99,energy:0.999,psnr:30,psnr:35,psnr:40,bytes:50%";

struct MeasureArgs {
  std::vector<std::filesystem::path> inputs;
  std::filesystem::path files_from, report;
  ConfigArgs config;
  std::optional<std::string> rank, backend, peak;
  PreparationArgs preparation;
  bool without_spectra = false, json = false;
  int verbose = 0, quiet = 0;
};

settings::Settings read_settings(const MeasureArgs& args) {
  settings::Settings defaults;
  defaults.ranks = parse_ranks(kDefaultRanks);
  settings::Settings settings = read_configuration(args.config, kSystemConfig, defaults).settings;
  apply_rank_option(settings, args.rank);
  apply_flag(settings, "--backend", "backend", args.backend);
  apply_preparation_flags(settings, args.preparation);
  apply_flag(settings, "--peak", "quality.peak", args.peak);
  settings.output = {};  // of a configuration for runs
  settings.output.format = OutputFormat::none;
  settings.quality.measure = settings::MeasureChoice::full;
  return settings;
}

ExitCode execute(const MeasureArgs& args) {
  const auto start = Clock::now();
  raise_descriptor_limit();
  logging::start_log(args.verbose - args.quiet);
  const settings::Settings settings = read_settings(args);
  if (args.inputs.empty() && args.files_from.empty())
    throw FatalError(ExitCode::usage, "no input: give folders, files or --files-from");
  for (const std::filesystem::path& input : args.inputs) check_exists(input);
  check_not_image("--report", args.report);
  std::vector<std::string> specs;
  for (const RankPolicy& policy : settings.ranks) specs.push_back(to_string(policy));
  reports::MeasurementSummary measurements(specs);
  const bool show_progress = args.quiet == 0 && logging::stderr_is_terminal();
  app::Run run({.settings = settings,
                .inputs = args.inputs,
                .files_from = args.files_from,
                .output = {},
                .report = args.report,
                .measurements = &measurements,
                .without_spectra = args.without_spectra,
                .count_inputs = show_progress},
               start);
  return execute_run(run, show_progress, [&](const telemetry::RunReport& report) {
    if (args.json) {
      std::printf("%s\n", to_json(measurements, report.done, report.failed).c_str());
    } else if (report.done > 0) {
      // Stdout has nothing but records if the report goes there.
      std::fputs(to_text(measurements).c_str(), args.report == "-" ? stderr : stdout);
    }
    if (args.quiet == 0) std::fputs(reports::measurement_text(report).c_str(), stderr);
  });
}

void add_inputs(CLI::App& command, MeasureArgs& args) {
  command.add_option("INPUT", args.inputs,
                     "Folders (read recursively), tar archives and image files");
  command
      .add_option("--files-from", args.files_from,
                  "File with further inputs, one path per line; - is stdin")
      ->type_name("FILE")
      ->group("Input");
  add_color_options(command, args.preparation, "Preparation");
  add_preparation_options(command, args.preparation, "Preparation");
}

void add_measurement(CLI::App& command, MeasureArgs& args) {
  const char* const group = "Measurement";
  add_rank_option(command, args.rank)->default_str("14 ranks and targets")->group(group);
  add_enum_name_option(command, "--backend", args.backend,
                       "Where to compute: auto is cuda if there is a GPU and enough work, checked "
                       "compares cuda with cpu",
                       settings::Settings{}.backend)
      ->group(group);
  add_peak_option(command, args.peak)->group(group);
  command
      .add_flag("--without-spectra", args.without_spectra,
                "Do not compute all singular values: faster, without knee and spectrum")
      ->group(group);
}

void add_reports(CLI::App& command, MeasureArgs& args) {
  const char* const group = "Reports and log";
  command
      .add_option("--report", args.report,
                  "Rank, PSNR, SSIM, sizes and times of each image and rank: CSV if FILE ends with "
                  ".csv, otherwise JSON lines; - is stdout")
      ->type_name("FILE")
      ->group(group);
  command.add_flag("--json", args.json, "Print one JSON object instead of tables")->group(group);
  command
      .add_flag("-v,--verbose", args.verbose,
                "Log each finished image; given twice, each batch too")
      ->group(group);
  command
      .add_flag("-q,--quiet", args.quiet,
                "No progress bar or summary, only warnings; given twice, only errors")
      ->group(group);
}

}  // namespace

void add_measure(CLI::App& app, Action& action) {
  auto args = std::make_shared<MeasureArgs>();
  CLI::App* command =
      app.add_subcommand("measure", "Measure what the images of folders come to at each rank")
          ->group(kMeasuringCommands);
  add_inputs(*command, *args);
  add_measurement(*command, *args);
  add_config_options(*command, args->config, /*has_print_option=*/false);
  add_reports(*command, *args);
  describe(*command,
           {.usage = {"INPUT... [OPTIONS]"},
            .examples = {{"Which ranks do the images of a folder need?", "eckart measure photos"},
                         {"The rank that 35 dB needs, and a table of all images",
                          "eckart measure photos --rank psnr:35 --report ranks.csv"},
                         {"The same for luma only",
                          "eckart measure photos --rank psnr:35 --color luma"}},
            .exit_codes = {ExitCode::ok, ExitCode::some_failed, ExitCode::usage,
                           ExitCode::nothing_readable, ExitCode::no_input, ExitCode::unavailable,
                           ExitCode::cannot_create, ExitCode::io_error, ExitCode::temporary,
                           ExitCode::no_permission, ExitCode::configuration, ExitCode::hung_up,
                           ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, &action] { action = [args] { return execute(*args); }; });
}

}  // namespace eckart::cli
