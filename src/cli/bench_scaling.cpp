#include <fcntl.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "bench/measured_run.hpp"
#include "bench/scaling_benchmark.hpp"
#include "capacity/plan.hpp"
#include "capacity/scaling_conclusion.hpp"
#include "cli/bench_experiments.hpp"
#include "cli/existing_path.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "files/file_descriptor.hpp"
#include "io/environment_error.hpp"
#include "io/scratch_folder.hpp"
#include "logging/log.hpp"
#include "reports/throughput_log.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

namespace fs = std::filesystem;

/// Throws FatalError if the log cannot be written, or is another file of the user. Leaves no new
/// file: the first run makes it.
void check_log(const fs::path& log) {
  const std::string name = text::printable(log.native());
  if (!reports::may_append(log))
    throw FatalError(ExitCode::usage,
                     "--log " + name + ": the file exists and is not a throughput log");
  std::error_code ignored;
  const bool is_new = !fs::exists(fs::symlink_status(log, ignored));
  const files::FileDescriptor file(
      ::open(log.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (!file) {
    const int error = errno;
    io::fail_to_create(
        error, "cannot write the log " + name + ": " + std::generic_category().message(error));
  }
  if (is_new) fs::remove(log, ignored);
}

/// The plans of the log; the first has the most images.
std::vector<capacity::Plan> read_plans(const fs::path& log) {
  capacity::ThroughputLogReader reader;
  reader.read(log);
  return capacity::make_plans(reader.runs(), {});
}

void print_plans(const BenchArgs& args) {
  const std::vector<capacity::Plan> plans = read_plans(args.log);
  for (const std::string& line : capacity::scaling_conclusions(plans.front()))
    print_bench_line(line);
  if (args.json) {
    for (const capacity::Plan& plan : plans) std::printf("%s\n", capacity::to_json(plan).c_str());
  } else {
    std::fputs(capacity::to_text(plans).c_str(), stdout);
  }
}

}  // namespace

ExitCode bench_scaling(const BenchArgs& args) {
  logging::start_log(0);
  for (const fs::path& input : args.inputs) check_exists(input);
  const settings::Settings settings = bench_settings(args);
  check_log(args.log);
  const io::ScratchFolder scratch(args.output, "eckart-bench");
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
       .run_options = bench_run_options(args),
       .log_options = bench::throughput_log_options(args.log, 1),
       .print_line = print_bench_line},
      child);
  if (signals.received() != 0) {
    std::fprintf(stderr, "stopped: measurements so far are in %s\n",
                 text::printable(args.log.native()).c_str());
    return exit_code_of(signals.received());
  }
  print_plans(args);
  return ExitCode::ok;
}

}  // namespace eckart::cli
