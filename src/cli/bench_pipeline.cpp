#include <spdlog/fmt/fmt.h>

#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>

#include "bench/pipeline_benchmark.hpp"
#include "cli/bench_experiments.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/existing_path.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "io/scratch_folder.hpp"
#include "logging/log.hpp"

namespace eckart::cli {
namespace {

void check(const BenchArgs& args, const settings::Settings& settings) {
  if (args.cores.size() > 1)
    throw FatalError(ExitCode::usage, "--cores: pipeline takes one number of cores");
  if (!settings.output.writes_files())
    throw FatalError(ExitCode::usage, "pipeline needs outputs, but output.format is none");
}

}  // namespace

ExitCode bench_pipeline(const BenchArgs& args) {
  raise_descriptor_limit();
  logging::start_log(-2);
  for (const std::filesystem::path& input : args.inputs) check_exists(input);
  const settings::Settings settings = bench_settings(args);
  check(args, settings);
  const io::ScratchFolder scratch(args.output, "eckart-bench");
  bench::ChildProcess child;
  std::stop_source stop;
  // Longer than the timeout of the child.
  const std::chrono::seconds max_shutdown(settings.timeouts.shutdown_s + 60);
  const SignalHandler signals({.on_stop =
                                   [&](int) {
                                     stop.request_stop();
                                     child.stop();
                                   },
                               .on_status_request = [] {},
                               .shutdown_timeout = [=] { return max_shutdown; },
                               .pending_work = [] { return std::string("a measurement"); }});
  const bench::PipelineResult result =
      bench::measure_pipeline({.inputs = args.inputs,
                               .settings = settings,
                               .run_options = bench_run_options(args),
                               .cores = args.cores.empty() ? 0 : args.cores.front(),
                               .seconds = args.seconds,
                               .repeats = args.repeats,
                               .scratch = scratch.path(),
                               .print_line = print_bench_line},
                              child, stop.get_token());
  if (signals.received() != 0)
    print_bench_line(
        fmt::format("interrupted after {} of {} rounds", result.rounds(), args.repeats));
  if (result.rounds() == 0) return exit_code_of(signals.received());
  if (args.json) {
    print_bench_line(bench::conclusion(result));
    std::printf("%s\n", bench::to_json(result).c_str());
  } else {
    std::fputs(bench::to_text(result).c_str(), stdout);
  }
  return signals.received() != 0 ? exit_code_of(signals.received()) : ExitCode::ok;
}

}  // namespace eckart::cli
