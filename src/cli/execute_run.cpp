#include "cli/execute_run.hpp"

#include <chrono>
#include <optional>
#include <string>

#include "app/log_stop.hpp"
#include "cli/signal_handler.hpp"
#include "cli/stop_signals.hpp"
#include "logging/log.hpp"
#include "logging/progress.hpp"
#include "reports/run_report_text.hpp"

namespace eckart::cli {

ExitCode exit_code(const app::Run& run, const telemetry::RunReport& report) {
  if (report.images() == 0 && !report.interrupted) {
    throw FatalError(
        ExitCode::nothing_readable,
        "no images in " + run.inputs_text() +
            (report.ignored > 0 ? " (" + reports::ignored_text(report) + ")" : std::string()));
  }
  return app::exit_code(report);
}

ExitCode execute_run(app::Run& run, bool show_progress,
                     const std::function<void(const telemetry::RunReport&)>& print) {
  const std::chrono::seconds shutdown_timeout(run.settings().timeouts.shutdown_s);
  const SignalHandler signals({.on_stop =
                                   [&](int) {
                                     app::log_stop(shutdown_timeout);
                                     run.request_stop();
                                   },
                               .on_status_request = [&] { logging::log_always(run.status_text()); },
                               .shutdown_timeout = [&] { return shutdown_timeout; },
                               .pending_work = [&] { return run.describe_activity(); }});
  std::optional<logging::ProgressBar> bar;
  if (show_progress) bar.emplace([&] { return run.progress(); });
  telemetry::RunReport report;
  try {
    report = run.execute();
  } catch (const DeviceLostError&) {
    if (signals.received() == 0) throw;
    return exit_code_of(signals.received());  // stopped by the user: no restart
  } catch (const EnvironmentError&) {
    if (signals.received() == 0) throw;
    return exit_code_of(signals.received());  // stopped while waiting for disk space
  }
  bar.reset();

  print(report);
  run.close_report();
  if (!report.interrupted || (!report.stopped_by.empty() && signals.received() == 0))
    return exit_code(run, report);
  return exit_code_of(signals.received());
}

}  // namespace eckart::cli
