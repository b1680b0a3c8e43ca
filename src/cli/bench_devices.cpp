#include <chrono>
#include <cstdio>
#include <stop_token>
#include <string>
#include <utility>

#include "bench/experiments/devices.hpp"
#include "bench/experiments/operation_experiments.hpp"
#include "bench/experiments/streams_experiment.hpp"
#include "bench/experiments/transfer_experiment.hpp"
#include "bench/report/table.hpp"
#include "cli/bench_experiments.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "logging/log.hpp"
#include "text/json.hpp"

namespace eckart::cli {
namespace {

bench::ExperimentResult measure(const std::string& experiment, const bench::Devices& devices,
                                const bench::ExperimentOptions& options) {
  if (experiment == kBenchKernels) return bench::bench_kernels(devices, options);
  if (experiment == kBenchMatmul) return bench::bench_matmul(devices, options);
  if (experiment == kBenchTransfer) return bench::bench_transfer(devices, options);
  if (experiment == kBenchStreams) return bench::bench_streams(devices, options);
  return bench::bench_bandwidth(devices, options);
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
  std::stop_source stop;
  constexpr std::chrono::seconds kMaxShutdown(60);
  const SignalHandler signals({.on_stop = [&](int) { stop.request_stop(); },
                               .on_status_request = [] {},
                               .shutdown_timeout = [=] { return kMaxShutdown; },
                               .pending_work = [] { return std::string("a measurement"); }});
  const bench::Devices devices = bench::find_devices();
  bench::GpuClock clock(devices);
  bench::ExperimentResult result = measure(args.experiment, devices,
                                           {.is_quick = args.is_quick,
                                            .print_line = print_bench_line,
                                            .on_measured = [&] { clock.read(); },
                                            .stop = stop.get_token()});
  bench::Report report = bench::describe_machine(args.experiment, devices, clock);
  report.tables = std::move(result.tables);
  print(report, args);
  if (!result.is_right) {
    std::fprintf(stderr, "eckart: a result was wrong; the table says which\n");
    return ExitCode::internal;
  }
  return signals.received() != 0 ? exit_code_of(signals.received()) : ExitCode::ok;
}

}  // namespace eckart::cli
