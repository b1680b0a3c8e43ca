#pragma once

#include <atomic>
#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <stop_token>
#include <string>
#include <vector>

#include "app/make_backend.hpp"
#include "app/monitor.hpp"
#include "app/supervised_service.hpp"
#include "app/watched_folder.hpp"
#include "core/instant.hpp"
#include "io/watch/watch_source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/calibration.hpp"
#include "settings/watches.hpp"
#include "telemetry/run_report.hpp"

namespace eckart::app {

/// Throws as the constructor of Service, except for calibration errors. Returns the warnings of
/// watch_warnings() for all watches.
std::vector<std::string> check_configuration(const settings::Configuration& configuration);

/// Watched folders with one shared pipeline. It ends when it is stopped or throws.
class Service : public SupervisedService, private pipeline::JobSteps {
 public:
  /// Throws as WatchedFolder does, FatalError(usage) if the outputs of one watch would be inputs of
  /// another, and settings::SettingsError. `last_done_unix_s`: of the previous service.
  explicit Service(const settings::Configuration& configuration, double last_done_unix_s = 0);

  /// Calls `ready` on the calling thread once files can be processed. Throws DeviceLostError, and
  /// FatalError if there is no backend.
  telemetry::RunReport execute(const std::function<void()>& ready) override;
  /// See Pipeline.
  void request_stop() override { pipeline_->request_stop(); }
  void stop_with_error(std::exception_ptr error) override;

  std::string inputs_text() const override;
  std::string status_line() const override;
  std::string status_text() const override;
  /// See Pipeline.
  std::string describe_activity() const override { return pipeline_->describe_activity(); }
  double last_done_unix_s() const override;

  /// Returns a stalled stage or a stalled thread of a watch.
  std::optional<pipeline::Activity::Stall> find_stall() override;
  /// Records the files of a stall; StallRecord delays them from their second stall on.
  void record_stall(const pipeline::Activity::Stall& stall) override;
  pipeline::Activity& activity() override { return pipeline_->activity(); }
  compute::Backend* backend() const override {
    return has_backend_ ? backend_.backend.get() : nullptr;
  }
  void record_heartbeat() override { last_heartbeat_ = Clock::now(); }
  /// Rescans watches with requeued inputs, and calls WatchedFolder::maintain() for each watch.
  void maintain_folders(const std::stop_token& stop) override;

 private:
  compute::Backend& create_backend() override;
  WatchedFolder& folder_of(const pipeline::WorkItem& item) {
    return *folders_[std::size_t(item.job)];
  }
  void assign_outputs(pipeline::WorkItem& item) override { folder_of(item).assign_outputs(item); }
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) override {
    folder_of(item).load(item, context);
  }
  void write(pipeline::WorkItem& item) override { folder_of(item).write(item); }
  void publish(std::span<pipeline::ItemPtr> group) override;
  void finish(const pipeline::WorkItem& item) override;
  void on_device_lost(const pipeline::InFlightBatches::Items& items) override;
  telemetry::Snapshot snapshot() const;
  status_server::ServiceState state();
  std::optional<pipeline::Activity::Stall> find_stalled_watch();

  const settings::Configuration configuration_;
  const settings::LoadedCalibration calibration_;
  const double previous_last_done_unix_s_;
  std::vector<std::unique_ptr<WatchedFolder>> folders_;
  std::vector<std::filesystem::path> inputs_, outputs_;  // one for each watch
  ChosenBackend backend_;
  std::atomic<bool> has_backend_{false};
  std::atomic<Instant> last_heartbeat_{};
  std::function<void()> ready_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::unique_ptr<io::WatchSource> source_;
  /// How long the thread of a watch has been busy with the same step.
  struct WatchBusyTime {
    Instant since{};
    Clock::duration age{};
  };
  std::mutex watch_busy_times_mutex_;
  std::vector<WatchBusyTime> watch_busy_times_;
  Instant last_watch_check_{};
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
};

}  // namespace eckart::app
