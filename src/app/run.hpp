#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "app/input_counter.hpp"
#include "app/job.hpp"
#include "app/make_backend.hpp"
#include "app/monitor.hpp"
#include "core/error.hpp"
#include "io/source.hpp"
#include "pipeline/pipeline.hpp"
#include "reports/image_report.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"
#include "telemetry/run_report.hpp"
#include "trace/trace.hpp"

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
  OnSettingsChange on_change = OnSettingsChange::refuse;  ///< what was done with other settings
  bool count_inputs = false;    ///< list the inputs a second time, at once, for progress()
  int restarts = 0;             ///< processes before this one that have lost their GPU
  std::int64_t run_number = 0;  ///< of the run that the first of them began, in the ledger
};

/// The composition root: makes sources, codecs, backend and pipeline from the request.
class Run : private JobSteps {
 public:
  /// Checks everything that can be checked before the work begins. Throws FatalError,
  /// settings::SettingsError, and std::invalid_argument for values that do not fit together.
  Run(RunRequest request, std::chrono::steady_clock::time_point start);

  /// As Pipeline has them.
  telemetry::RunReport execute();
  /// Whether the same request in a new process does what execute() has left, DeviceLostError.
  bool can_restart() const { return job_.has_ledger() && can_relist_inputs(); }
  /// Of this run in the ledger; 0 where none is kept.
  std::int64_t run_number() const { return job_.run_number(); }
  /// Whether the inputs are not given by a pipe.
  bool can_relist_inputs() const;
  /// After execute(). Throws FatalError where a line of the images' report is lost.
  void close_report();
  void request_stop();
  const settings::Settings& settings() const { return request_.settings; }
  /// As Pipeline has it, with the total as soon as it is counted. From any thread, while execute()
  /// runs.
  telemetry::ProgressState progress() const;
  /// What is waited for after request_stop(), as Activity::text() has it; from any thread.
  std::string describe_activity() const { return pipeline_->describe_activity(); }
  /// From any thread.
  Monitor::View current_view() const { return monitor_->current_view(); }

  /// Told of an item, and of what is at the places of its outputs; of none where it has failed
  /// before these were known.
  using DryRunVisitor =
      std::function<void(const WorkItem& item, std::span<const OutputDecision> places)>;
  /// Calls `tell` for everything that execute() would do, as far as names tell, and does nothing.
  /// What would be tried counts as done.
  telemetry::RunReport dry_run(const DryRunVisitor& visit);

 private:
  Backend& create_backend() override;
  void assign_outputs(WorkItem& item) override { job_.assign_outputs(item); }
  void load(WorkItem& item, const ReserveBytes& reserve) override { job_.load(item, reserve); }
  void write(WorkItem& item) override { job_.write(item); }
  void publish(std::span<ItemPtr> group) override { job_.publish(group); }
  void finish(const WorkItem& item) override;
  void on_device_lost(const InFlightBatches::Items& items) override { job_.record_suspects(items); }
  void retry_until_space(const std::function<void()>& make_files);
  std::vector<OutputDecision> inspect_outputs(WorkItem& item);
  status_server::ServiceState state() const;

  const RunRequest request_;
  const std::chrono::steady_clock::time_point start_;
  const settings::LoadedCalibration calibration_;
  Job job_;
  std::unique_ptr<io::Source> source_;
  std::optional<reports::ImageReport> report_;
  std::optional<trace::Trace> trace_;
  ChosenBackend backend_;
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
  std::stop_source stop_;
  std::optional<InputCounter> input_counter_;
};

/// The exit code that tells this report's story.
ExitCode exit_code(const telemetry::RunReport& report);

}  // namespace eckart::app
