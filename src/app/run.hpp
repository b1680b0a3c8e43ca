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
#include "app/input_sources.hpp"
#include "app/job.hpp"
#include "app/make_backend.hpp"
#include "app/monitor.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "io/source.hpp"
#include "pipeline/pipeline.hpp"
#include "pipeline/space_wait.hpp"
#include "reports/image_report.hpp"
#include "reports/measurement_summary.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"
#include "telemetry/run_report.hpp"
#include "trace/trace.hpp"

namespace eckart::app {

/// The parameters of one `eckart run`.
struct RunRequest {
  settings::Settings settings;
  std::vector<std::filesystem::path> inputs;  ///< folders and files
  std::filesystem::path files_from;  ///< a file with one path per line, `-` for stdin; may be empty
  char files_from_separator = '\n';  ///< that ends each path in files_from: or a null byte
  std::optional<ShardInputs> shard = {};  ///< as in InputSources
  std::filesystem::path output;           ///< not used if nothing is written
  std::filesystem::path report;           ///< output of ImageReport; may be empty
  /// Receives the measurements of each output, and all singular values of each image unless
  /// `without_spectra`; may be null.
  reports::MeasurementSummary* measurements = nullptr;
  bool without_spectra = false;
  std::filesystem::path trace = {};  ///< output of Trace; may be empty
  bool overwrite = false;            ///< process inputs again that are done
  pipeline::OnSettingsChange on_change =
      pipeline::OnSettingsChange::refuse;  ///< for outputs made with other settings
  bool count_inputs = false;    ///< list the inputs twice, so that progress() has a total
  int restarts = 0;             ///< number of previous processes of this run that lost their GPU
  std::int64_t run_number = 0;  ///< if restarts > 0: its number in the ledger
};

/// The composition root: makes sources, codecs, backend and pipeline from the request.
class Run : private pipeline::JobSteps {
 public:
  /// Checks everything that can be checked before the work begins. Throws FatalError,
  /// settings::SettingsError, and std::invalid_argument if values contradict each other.
  Run(RunRequest request, Instant start);

  /// See Pipeline.
  telemetry::RunReport execute();
  /// Returns whether a new process with the same request completes the run after DeviceLostError.
  bool can_restart() const { return job_.has_ledger() && can_relist_inputs(); }
  /// Returns the number of the run in the ledger; 0 if there is no ledger.
  std::int64_t run_number() const { return job_.run_number(); }
  /// Returns whether the inputs can be listed again: false if they come from a pipe.
  bool can_relist_inputs() const;
  /// Call it after execute(). Throws FatalError if a line of the image report was lost.
  void close_report();
  void request_stop();
  const settings::Settings& settings() const { return request_.settings; }
  /// Returns the names of the inputs for messages.
  std::string inputs_text() const;
  /// See Pipeline; includes the total once it is counted. Callable from any thread while execute()
  /// runs.
  telemetry::ProgressState progress() const;
  /// Describes the work that a stop waits for; see Activity::describe(). Callable from any thread.
  std::string describe_activity() const { return pipeline_->describe_activity(); }
  /// Callable from any thread.
  std::string status_text() const { return app::status_text(monitor_->current_status()); }

  /// Receives an item and the decisions for its outputs. These are empty if the item failed before
  /// they were known.
  using DryRunVisitor = std::function<void(const pipeline::WorkItem& item,
                                           std::span<const pipeline::OutputDecision> decisions)>;
  /// Calls `visit` for every item that execute() would process, as far as names show, and writes
  /// nothing. Items that would be tried count as done.
  telemetry::RunReport dry_run(const DryRunVisitor& visit);

 private:
  compute::Backend& create_backend() override;
  void assign_outputs(pipeline::WorkItem& item) override { job_.assign_outputs(item); }
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) override {
    job_.load(item, context);
  }
  void write(pipeline::WorkItem& item) override { job_.write(item); }
  void publish(std::span<pipeline::ItemPtr> group) override { job_.publish(group); }
  void finish(const pipeline::WorkItem& item) override;
  void on_device_lost(const pipeline::InFlightBatches::Items& items) override {
    job_.record_suspects(items);
  }
  std::vector<pipeline::OutputDecision> inspect_outputs(pipeline::WorkItem& item);
  status_server::ServiceState state() const;
  /// Calls `make_files` until it succeeds or SpaceWait::pause() throws. Starts the monitor if it
  /// has to wait.
  void retry_until_space(const std::function<void()>& make_files);

  const RunRequest request_;
  const Instant start_;
  const settings::LoadedCalibration calibration_;
  Job job_;
  std::unique_ptr<io::Source> source_;
  std::optional<reports::ImageReport> report_;
  std::optional<trace::Trace> trace_;
  ChosenBackend backend_;
  std::stop_source stop_;
  pipeline::SpaceMonitor space_;  // before the pipeline runs
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
  std::optional<InputCounter> input_counter_;
};

/// Returns the exit code for this report.
ExitCode exit_code(const telemetry::RunReport& report);

}  // namespace eckart::app
