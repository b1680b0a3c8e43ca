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
#include "io/watch/watch_source.hpp"
#include "pipeline/activity.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/calibration.hpp"
#include "settings/watches.hpp"
#include "telemetry/run_report.hpp"

namespace eckart::app {

/// Throws what Service's constructor would, but for the calibration's. Returns what of the folders
/// is not as it should be, as watch_warnings() has it.
std::vector<std::string> check_configuration(const settings::Configuration& configuration);

/// Watched folders, and one pipeline for all of them. It ends when it is stopped, and by what it
/// throws.
class Service : public SupervisedService, private JobSteps {
 public:
  /// Throws as WatchedFolder does, FatalError(usage) where one watch's results would be another's
  /// inputs, and settings::SettingsError.
  /// `last_done_unix_s`: that of the service before it.
  explicit Service(const settings::Configuration& configuration, double last_done_unix_s = 0);

  /// `ready` is called once files can be taken in, on a thread of the pipeline. Throws
  /// DeviceLostError, and FatalError where there is no backend.
  telemetry::RunReport execute(const std::function<void()>& ready) override;
  /// As Pipeline has it.
  void request_stop() override { pipeline_->request_stop(); }
  void stop_with_error(std::exception_ptr error) override;

  std::size_t watches() const override { return folders_.size(); }
  std::string status_line() const override;
  std::string status_text() const override;
  /// As Pipeline has it.
  std::string describe_activity() const override { return pipeline_->describe_activity(); }
  double last_done_unix_s() const override;

  /// A stage, or the thread of a watch.
  std::optional<Activity::Stall> find_stall() override;
  /// Has the files of a stall wait from the second time on, as StallRecord has it.
  void record_stall(const Activity::Stall& stall) override;
  Activity& activity() override { return pipeline_->activity(); }
  Backend* backend() const override { return has_backend_ ? backend_.backend.get() : nullptr; }
  void record_heartbeat() override { last_heartbeat_ = std::chrono::steady_clock::now(); }
  /// Looks again where inputs were requeued, and looks after each WatchedFolder.
  void maintain_folders(const std::stop_token& stop) override;

 private:
  Backend& create_backend() override;
  WatchedFolder& folder_of(const WorkItem& item) { return *folders_[std::size_t(item.job)]; }
  void assign_outputs(WorkItem& item) override { folder_of(item).assign_outputs(item); }
  void load(WorkItem& item, const ReserveBytes& reserve) override {
    folder_of(item).load(item, reserve);
  }
  void write(WorkItem& item) override { folder_of(item).write(item); }
  void publish(std::span<ItemPtr> group) override;
  void finish(const WorkItem& item) override;
  void on_device_lost(const InFlightBatches::Items& items) override;
  status_server::ServiceState state();
  std::optional<Activity::Stall> find_stalled_watch();

  const settings::Configuration configuration_;
  const settings::LoadedCalibration calibration_;
  const double previous_last_done_unix_s_;
  std::vector<std::unique_ptr<WatchedFolder>> folders_;
  std::vector<std::filesystem::path> inputs_, outputs_;  // of each
  ChosenBackend backend_;
  std::atomic<bool> has_backend_{false};
  std::atomic<std::chrono::steady_clock::time_point> last_heartbeat_{};
  std::function<void()> ready_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::unique_ptr<io::WatchSource> source_;
  /// How long each watch's thread has been at work on the same.
  struct WatchBusyTime {
    io::Instant since{};
    std::chrono::steady_clock::duration age{};
  };
  std::mutex watch_busy_times_mutex_;
  std::vector<WatchBusyTime> watch_busy_times_;
  io::Instant last_watch_check_{};
  std::unique_ptr<Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
};

}  // namespace eckart::app
