#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>

#include "app/job.hpp"
#include "app/make_backend.hpp"
#include "app/monitor.hpp"
#include "app/queue_source.hpp"
#include "app/supervised_service.hpp"
#include "app/worker_ledger.hpp"
#include "broker/queue_consumer.hpp"
#include "core/instant.hpp"
#include "pipeline/pipeline.hpp"
#include "settings/calibration.hpp"
#include "settings/settings.hpp"

namespace eckart::app {

/// The parameters of one `eckart worker`.
struct QueueServiceRequest {
  settings::Settings settings;
  broker::ConnectionOptions connection;
  broker::QueueOptions queue;
  std::filesystem::path output;
  std::filesystem::path state;  ///< folder on a local disk, see WorkerLedger
};

/// Processes the images of a queue. It ends when it is stopped or throws. While there is no
/// connection to the broker, the images that it has taken are processed.
class QueueService : public SupervisedService, private pipeline::JobSteps {
 public:
  /// Throws as Job and WorkerLedger, and settings::SettingsError. `last_done_unix_s`: of the
  /// previous service.
  explicit QueueService(QueueServiceRequest request, double last_done_unix_s = 0);

  /// Calls `ready` on the calling thread once images can be processed. Throws DeviceLostError,
  /// FatalError if there is no backend, and broker::AmqpError if the broker refuses this worker.
  telemetry::RunReport execute(const std::function<void()>& ready) override;
  /// See Pipeline.
  void request_stop() override { pipeline_->request_stop(); }
  void stop_with_error(std::exception_ptr error) override;

  std::string inputs_text() const override;
  std::string status_line() const override;
  std::string status_text() const override;
  std::string describe_activity() const override { return pipeline_->describe_activity(); }
  double last_done_unix_s() const override;

  std::optional<pipeline::Activity::Stall> find_stall() override { return pipeline_->find_stall(); }
  /// The broker counts how often a message was delivered.
  void record_stall(const pipeline::Activity::Stall&) override {}
  pipeline::Activity& activity() override { return pipeline_->activity(); }
  compute::Backend* backend() const override {
    return has_backend_ ? backend_.backend.get() : nullptr;
  }
  void record_heartbeat() override { last_heartbeat_ = Clock::now(); }
  void maintain_folders(const std::stop_token&) override {}

 private:
  compute::Backend& create_backend() override;
  void assign_outputs(pipeline::WorkItem& item) override;
  void load(pipeline::WorkItem& item, pipeline::LoadContext& context) override;
  void write(pipeline::WorkItem& item) override;
  void publish(std::span<pipeline::ItemPtr> group) override;
  void finish(const pipeline::WorkItem& item) override;
  void on_device_lost(const pipeline::InFlightBatches::Items& items) override {
    job_.record_suspects(items);
  }
  bool can_write() const;
  status_server::ServiceState state() const;

  const settings::LoadedCalibration calibration_;
  const double previous_last_done_unix_s_;
  WorkerLedger ledger_;
  const QueueServiceRequest request_;
  Job job_;
  ChosenBackend backend_;
  std::atomic<bool> has_backend_{false};
  std::atomic<Instant> last_heartbeat_{};
  std::function<void()> ready_;
  std::mutex error_mutex_;
  std::exception_ptr error_;
  std::unique_ptr<QueueSource> source_;
  std::unique_ptr<pipeline::Pipeline> pipeline_;
  std::unique_ptr<Monitor> monitor_;
};

}  // namespace eckart::app
