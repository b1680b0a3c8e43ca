#pragma once

#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "compute/backend.hpp"
#include "pipeline/activity.hpp"
#include "telemetry/run_report.hpp"

namespace eckart::app {

/// The interface of a service for Supervisor and ServiceHealth. All functions except execute() may
/// be called from any thread.
class SupervisedService {
 public:
  virtual ~SupervisedService() = default;

  /// Runs until the service is stopped, or throws. Calls `ready`, on any thread, once files can be
  /// processed.
  virtual telemetry::RunReport execute(const std::function<void()>& ready) = 0;
  virtual void request_stop() = 0;
  /// Stops the service; execute() then throws `error`.
  virtual void stop_with_error(std::exception_ptr error) = 0;

  /// What it takes images from: "2 watches".
  virtual std::string inputs_text() const = 0;
  /// Describe the state of the service for people, in one line and in several lines.
  virtual std::string status_line() const = 0;
  virtual std::string status_text() const = 0;
  virtual std::string describe_activity() const = 0;
  /// Returns when this service or the previous one last finished an image, in seconds since 1970.
  virtual double last_done_unix_s() const = 0;

  /// Returns the current stall, if any. Never blocks, so that it works if any other thread hangs.
  virtual std::optional<pipeline::Activity::Stall> find_stall() = 0;
  /// Records the files of a stall for the next process.
  virtual void record_stall(const pipeline::Activity::Stall& stall) = 0;
  virtual pipeline::Activity& activity() = 0;
  /// Returns null until the backend is made.
  virtual compute::Backend* backend() const = 0;
  /// Records that every GPU responded or, if a GPU had no memory for the probe, computed images.
  virtual void record_heartbeat() = 0;
  /// Call it about once per second from one thread. Returns soon after `stop`.
  virtual void maintain_folders(const std::stop_token& stop) = 0;
};

}  // namespace eckart::app
