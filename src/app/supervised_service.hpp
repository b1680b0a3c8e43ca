#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>

#include "compute/backend.hpp"
#include "pipeline/activity.hpp"
#include "telemetry/run_report.hpp"

namespace eckart::app {

/// What Supervisor and ServiceHealth need of a service. All but execute() may be called from any
/// thread.
class SupervisedService {
 public:
  virtual ~SupervisedService() = default;

  /// Until the service is stopped, or ended by what this throws. `ready` is called once files can
  /// be taken in, on any thread.
  virtual telemetry::RunReport execute(const std::function<void()>& ready) = 0;
  virtual void request_stop() = 0;
  /// Stops, and has execute() throw this.
  virtual void stop_with_error(std::exception_ptr error) = 0;

  virtual std::size_t watches() const = 0;
  /// What it does: one line, and several, for people.
  virtual std::string status_line() const = 0;
  virtual std::string status_text() const = 0;
  virtual std::string describe_activity() const = 0;
  /// When an image was last done, here or in the service before it; in seconds since 1970.
  virtual double last_done_unix_s() const = 0;

  /// What has stalled, if anything. Waits for nothing, so that it is told whatever hangs.
  virtual std::optional<Activity::Stall> find_stall() = 0;
  /// Remembers the files of a stall for the next process.
  virtual void record_stall(const Activity::Stall& stall) = 0;
  virtual Activity& activity() = 0;
  /// Null until it is made.
  virtual Backend* backend() const = 0;
  /// Every GPU has responded or, if there is no memory for the question, has computed images.
  virtual void record_heartbeat() = 0;
  /// To be called every second or so, by one thread. Returns soon after `stop`.
  virtual void maintain_folders(const std::stop_token& stop) = 0;
};

}  // namespace eckart::app
