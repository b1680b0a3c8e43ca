#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "bench/scaling_benchmark.hpp"
#include "capacity/plan.hpp"
#include "capacity/scaling_conclusion.hpp"
#include "cli/arguments.hpp"
#include "cli/commands.hpp"
#include "cli/configuration.hpp"
#include "cli/enum_option.hpp"
#include "cli/existing_path.hpp"
#include "cli/help.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "files/file_descriptor.hpp"
#include "io/environment_error.hpp"
#include "logging/log.hpp"
#include "reports/throughput_log.hpp"
#include "settings/settings.hpp"
#include "settings/value_types.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

struct BenchArgs {
  std::string experiment;
  std::vector<fs::path> inputs;
  fs::path output;  ///< empty: the temporary folder
  fs::path log = "scaling.jsonl";
  ConfigArgs config;
  std::vector<int> cores;
  double seconds = 5, max_seconds = 900;
  int repeats = 3;
  bool json = false;
};

/// An empty temporary folder. The destructor removes it.
class ScratchFolder {
 public:
  explicit ScratchFolder(const fs::path& parent) {
    std::error_code error;
    fs::create_directories(parent, error);
    std::string name = (parent / "eckart-bench-XXXXXX").string();
    if (!error && !::mkdtemp(name.data())) error = {errno, std::generic_category()};
    if (error)
      io::fail_to_create(
          error.value(),
          "cannot create a folder in " + text::printable(parent.native()) + ": " + error.message());
    path_ = fs::absolute(name);
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path scratch_parent(const BenchArgs& args) {
  if (!args.output.empty()) return args.output;
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error)
    throw FatalError(ExitCode::cannot_create,
                     "there is no temporary folder (" + error.message() +
                         "): set TMPDIR, or give a scratch folder with -o FOLDER");
  return folder;
}

std::vector<std::string> run_options(const ConfigArgs& config) {
  std::vector<std::string> options;
  if (!config.file.empty()) options = {"--config", fs::absolute(config.file).string()};
  for (const std::string& set : config.assignments) options.insert(options.end(), {"--set", set});
  return options;
}

std::vector<std::string> log_options(const fs::path& log) {
  const std::string yaml = settings::Text{}.print(fs::absolute(log).native());
  return {"--set", "telemetry.throughput_log=" + yaml, "--set", "telemetry.interval_s=1"};
}

/// Throws FatalError if the log cannot be written, or is another file of the user.
void check_log(const fs::path& log) {
  const std::string name = text::printable(log.native());
  if (!reports::may_append(log, '{'))
    throw FatalError(ExitCode::usage,
                     "--log " + name + ": the file exists and is not a throughput log");
  const files::FileDescriptor file(
      ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) {
    const int error = errno;
    io::fail_to_create(
        error, "cannot write the log " + name + ": " + std::generic_category().message(error));
  }
}

/// The plans of the log; the first has the most images.
std::vector<capacity::Plan> read_plans(const fs::path& log) {
  capacity::ThroughputLogReader reader;
  reader.read(log);
  return capacity::make_plans(reader.runs(), {});
}

void print_line(const std::string& line) { std::fprintf(stderr, "%s\n", line.c_str()); }

void print_plans(const BenchArgs& args) {
  const std::vector<capacity::Plan> plans = read_plans(args.log);
  for (const std::string& line : capacity::scaling_conclusions(plans.front())) print_line(line);
  if (args.json) {
    for (const capacity::Plan& plan : plans) std::printf("%s\n", capacity::to_json(plan).c_str());
  } else {
    std::fputs(capacity::to_text(plans).c_str(), stdout);
  }
}

ExitCode scaling(const BenchArgs& args) {
  logging::start_log(0);
  for (const fs::path& input : args.inputs) check_exists(input);
  const settings::Settings settings = read_configuration(args.config).settings;
  check_log(args.log);
  const ScratchFolder scratch(scratch_parent(args));
  bench::ChildProcess child;
  // Longer than the timeout of the child.
  const std::chrono::seconds max_shutdown(settings.timeouts.shutdown_s + 60);
  const SignalHandler signals({.on_stop = [&](int) { child.stop(); },
                               .on_status_request = [] {},
                               .shutdown_timeout = [=] { return max_shutdown; },
                               .pending_work = [] { return std::string("a run"); }});
  bench::measure_scaling(
      {.inputs = args.inputs,
       .cores = args.cores,
       .seconds = args.seconds,
       .repeats = args.repeats,
       .max_seconds = args.max_seconds,
       .missing = [&] { return capacity::missing_precision(read_plans(args.log).front()); },
       .scratch = scratch.path(),
       .run_options = run_options(args.config),
       .log_options = log_options(args.log),
       .print_line = print_line},
      child);
  if (signals.received() != 0) {
    std::fprintf(stderr, "stopped: measurements so far are in %s\n",
                 text::printable(args.log.native()).c_str());
    return exit_code_of(signals.received());
  }
  print_plans(args);
  return ExitCode::ok;
}

}  // namespace

void add_bench(CLI::App& app, Action& action) {
  auto args = std::make_shared<BenchArgs>();
  CLI::App* command =
      app.add_subcommand("bench", "Measure how throughput scales with the number of cores")
          ->group(kMachineCommands);
  command->add_option("EXPERIMENT", args->experiment, "What to measure")
      ->required()
      ->check(one_of({"scaling"}));
  command->add_option("INPUT", args->inputs, "Folders and files, processed as often as needed")
      ->required();
  command
      ->add_option("--cores", args->cores,
                   "Core counts, separated by commas; without it, 1, 2, 4, ..., all")
      ->type_name("LIST")
      ->delimiter(',')
      ->check(number_between(1, capacity::kMaxCores))
      ->group("Measurement");
  command->add_option("--seconds", args->seconds, "Seconds for a run on all cores")
      ->type_name("SECONDS")
      ->check(number_between(0.1, 3600.0))
      ->capture_default_str()
      ->group("Measurement");
  command->add_option("--repeats", args->repeats, "Minimum number of repeats of each run")
      ->type_name("N")
      ->check(number_between(1, 100))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("--max-seconds", args->max_seconds,
                   "Repeat until each rate is known within 5 %, at most this long")
      ->type_name("SECONDS")
      ->check(number_between(0.0, 1e6))
      ->capture_default_str()
      ->group("Measurement");
  command
      ->add_option("-o,--output", args->output,
                   "Scratch folder for outputs, on the disk to measure; without it, the temporary "
                   "folder")
      ->type_name("FOLDER")
      ->group("Output");
  command->add_option("--log", args->log, "Throughput log to append to, for eckart plan")
      ->type_name("FILE")
      ->default_str("scaling.jsonl")
      ->group("Output");
  command->add_flag("--json", args->json, "Print the plan as JSON, as eckart plan --json does")
      ->group("Output");
  add_config_options(*command, args->config, false);
  describe(
      *command,
      {.usage = {"scaling INPUT... [OPTIONS]"},
       .examples = {{"Measure this machine", "eckart bench scaling photos"},
                    {"With the disk that will be used, for at most 4 cores",
                     "eckart bench scaling photos -o /srv/scratch --cores 1,2,4"},
                    {"Then ask what is needed", "eckart plan scaling.jsonl --target 2M/day"}},
       .exit_codes = {ExitCode::ok, ExitCode::usage, ExitCode::nothing_readable, ExitCode::no_input,
                      ExitCode::cannot_create, ExitCode::no_permission, ExitCode::configuration,
                      ExitCode::hung_up, ExitCode::interrupted, ExitCode::terminated}});
  command->callback([args, &action] {
    std::sort(args->cores.begin(), args->cores.end());
    action = [args] { return scaling(*args); };
  });
}

}  // namespace eckart::cli
