#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <iterator>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "app/make_backend.hpp"
#include "bench/child_process.hpp"
#include "bench/cpu_order.hpp"
#include "bench/experiments/crossover_experiment.hpp"
#include "bench/experiments/devices.hpp"
#include "bench/experiments/operation_experiments.hpp"
#include "bench/experiments/roofline_experiment.hpp"
#include "bench/experiments/solver_experiment.hpp"
#include "bench/experiments/streams_experiment.hpp"
#include "bench/experiments/transfer_experiment.hpp"
#include "bench/pipeline_benchmark.hpp"
#include "bench/report/table.hpp"
#include "cli/bench_experiments.hpp"
#include "cli/descriptor_limit.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "io/scratch_folder.hpp"
#include "logging/log.hpp"
#include "machine/running_threads.hpp"
#include "machine/usable_cores.hpp"
#include "text/json.hpp"

namespace eckart::cli {
namespace {

using Experiment = bench::ExperimentResult (*)(const bench::Devices& devices,
                                               const bench::ExperimentOptions& options);

/// All experiments on devices, in the order of `eckart bench all`.
const std::vector<std::pair<std::string, Experiment>>& experiments() {
  static const std::vector<std::pair<std::string, Experiment>> all = {
      {kBenchTransfer, bench::bench_transfer},
      {kBenchBandwidth, bench::bench_bandwidth},
      {kBenchKernels, bench::bench_kernels},
      {kBenchMatmul, bench::bench_matmul},
      {kBenchCrossover, bench::bench_crossover},  // first of those that start the backend of the
                                                  // GPU
      {kBenchStreams, bench::bench_streams},
      {kBenchSolvers, bench::bench_solvers},
      {kBenchRoofline, bench::bench_roofline},
  };
  return all;
}

/// The experiment of this name, or all of them.
bench::ExperimentResult measure(const std::string& name, const bench::Devices& devices,
                                const bench::ExperimentOptions& options) {
  bench::ExperimentResult result;
  for (const auto& [each, experiment] : experiments()) {
    if (options.stop.stop_requested()) break;
    if (name != each && name != kBenchAll) continue;
    if (name == kBenchAll) options.print_line("bench " + each);
    bench::ExperimentResult part = experiment(devices, options);
    std::move(part.tables.begin(), part.tables.end(), std::back_inserter(result.tables));
    result.is_right = result.is_right && part.is_right;
  }
  return result;
}

/// Measures whole runs over synthetic images. Empty after a stop request.
std::vector<bench::Table> measure_runs(const BenchArgs& args, const io::ScratchFolder& scratch,
                                       bench::ChildProcess& child, const std::stop_token& stop) {
  const std::filesystem::path images = scratch.path() / "images", work = scratch.path() / "work";
  std::filesystem::create_directory(work);
  const int synth_code =
      child
          .run({"synth", "-o", images.string(), "--kind", "texture", "--count", "64", "--size",
                "256x256", "--format", "jpeg"},
               bench::first_cpus_by_core(machine::usable_cores()), scratch.path() / "synth.log")
          .code;
  if (stop.stop_requested()) return {};
  if (synth_code != 0) throw FatalError(ExitCode(synth_code), "eckart synth failed");
  const bench::PipelineResult result = bench::measure_pipeline({.inputs = {images},
                                                                .settings = {},
                                                                .run_options = {},
                                                                .cores = 0,
                                                                .seconds = args.is_quick ? 0.3 : 2,
                                                                .repeats = args.is_quick ? 3 : 6,
                                                                .scratch = work,
                                                                .print_line = print_bench_line},
                                                               child, stop);
  if (result.rounds() == 0) return {};
  return {bench::to_table(result)};
}

void print(const bench::Report& report, const BenchArgs& args) {
  if (args.json)
    std::printf("%s\n", text::dump_json(bench::to_json(report)).c_str());
  else
    std::fputs((args.html ? bench::to_html(report) : bench::to_text(report)).c_str(), stdout);
}

}  // namespace

ExitCode bench_devices(const BenchArgs& args) {
  logging::start_log(0);
  std::optional<io::ScratchFolder> scratch;  // made first: an error must not cost measurements
  if (args.experiment == kBenchAll) {
    raise_descriptor_limit();
    scratch.emplace(args.output, "eckart-bench");
  }
  std::stop_source stop;
  constexpr std::chrono::seconds kMaxShutdown(60);
  bench::ChildProcess child;
  const SignalHandler signals({.on_stop =
                                   [&](int) {
                                     print_bench_line("stopping; a second signal ends at once");
                                     stop.request_stop();
                                     child.stop();
                                   },
                               .on_status_request = [] {},
                               .shutdown_timeout = [=] { return kMaxShutdown; },
                               .pending_work = [] { return std::string("a measurement"); }});
  bench::Devices devices = bench::find_devices();
  devices.make_cpu_backend = app::make_cpu_backend;
  devices.make_gpu_backend = app::make_cuda_backend;
  if (args.with_peers) try {
      bench::add_peers(devices, "python3", stop.get_token());
    } catch (const std::runtime_error& error) {
      if (signals.received() != 0) return exit_code_of(signals.received());
      throw FatalError(
          ExitCode::unavailable,
          std::string("--peers: python3 of the PATH with NumPy is needed: ") + error.what());
    }
  std::vector<pid_t> processes = {::getpid()};
  if (devices.peers) processes.push_back(devices.peers->process());
  bench::GpuClock clock(devices);
  bench::ExperimentResult result =
      measure(args.experiment, devices,
              {.extent = args.is_quick ? bench::Extent::quick : bench::Extent::all,
               .print_line = print_bench_line,
               .read_clock = [&] { clock.read(); },
               .wait_until_idle = [&] { machine::wait_until_idle(processes); },
               .stop = stop.get_token()});
  if (args.experiment == kBenchAll && !stop.stop_requested()) {
    print_bench_line("bench pipeline");
    for (bench::Table& table : measure_runs(args, *scratch, child, stop.get_token()))
      result.tables.push_back(std::move(table));
  }
  bench::Report report = bench::describe_machine(args.experiment, devices, clock);
  report.tables = std::move(result.tables);
  std::erase_if(report.tables, [](const bench::Table& table) { return table.rows.empty(); });
  if (signals.received() != 0)
    report.warnings.emplace_back(
        report.tables.empty() ? "interrupted before a size was complete"
                              : "interrupted: sizes are missing, or were measured in fewer passes, "
                                "so that their intervals have less than 95 % confidence");
  else if (const std::string warning = bench::noise_warning(report); !warning.empty())
    report.warnings.push_back(warning);
  print(report, args);
  if (!result.is_right) {
    std::fprintf(stderr, "eckart: a result was wrong; the table says which\n");
    return ExitCode::internal;
  }
  return signals.received() != 0 ? exit_code_of(signals.received()) : ExitCode::ok;
}

}  // namespace eckart::cli
