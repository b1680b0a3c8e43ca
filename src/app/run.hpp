#pragma once

#include <atomic>
#include <chrono>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "app/backends.hpp"
#include "app/input_count.hpp"
#include "app/job.hpp"
#include "app/monitor.hpp"
#include "core/error.hpp"
#include "io/source.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"
#include "telemetry/image_report.hpp"
#include "telemetry/run_report.hpp"
#include "telemetry/trace.hpp"

namespace eckart::app {

/// What one `eckart run` is to do.
struct RunRequest {
  settings::Settings settings;
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;  ///< a file with a path a line, `-` for stdin; may be empty
  std::filesystem::path output;
  std::filesystem::path report;      ///< where ImageReport writes; may be empty
  std::filesystem::path trace = {};  ///< where Trace writes; may be empty
  bool overwrite = false;            ///< do again what is done
  bool count_ahead = false;          ///< list the inputs a second time, at once, for progress()
  int restarts = 0;                  ///< processes before this one that have lost their GPU
};

/// The composition root: makes sources, codecs, backend and pipeline from the request.
class Run {
 public:
  /// Checks everything that can be checked before the work begins. Throws FatalError,
  /// settings::SettingsError, and std::invalid_argument for values that do not fit together.
  Run(RunRequest request, std::chrono::steady_clock::time_point start);

  /// As Pipeline has them.
  telemetry::RunReport execute();
  /// Whether the same request in a new process does what execute() has left, DeviceLost.
  bool can_go_on() const { return job_.keeps_ledger() && can_list_again(); }
  /// After execute(). Throws FatalError where a line of the images' report is lost.
  void close_report();
  void request_stop();
  /// As Pipeline has it, with the total as soon as it is counted. From any thread, while execute()
  /// runs.
  telemetry::ProgressState progress() const;
  /// From any thread.
  Monitor::View view() const { return monitor_->view_now(); }

  /// Calls `tell` for everything that execute() would do, as far as names tell, and does nothing.
  /// What would be tried counts as done.
  telemetry::RunReport dry_run(const std::function<void(const WorkItem&)>& tell);

 private:
  void prepare_output();
  telemetry::ServiceState state() const;
  bool can_list_again() const;

  const RunRequest request_;
  const std::chrono::steady_clock::time_point start_;
  const settings::LoadedCalibration calibration_;
  Job job_;
  std::unique_ptr<io::Source> source_;
  std::optional<telemetry::ImageReport> report_;
  std::optional<telemetry::Trace> trace_;
  ChosenBackend backend_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
  std::stop_source stop_;
  std::optional<InputCount> count_;
};

/// The exit code that tells this report's story.
ExitCode exit_code(const telemetry::RunReport& report);

}  // namespace eckart::app
