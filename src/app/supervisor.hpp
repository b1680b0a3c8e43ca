#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "app/exit_deadline.hpp"
#include "app/service_health.hpp"
#include "app/service_manager.hpp"
#include "app/supervised_service.hpp"
#include "core/error.hpp"
#include "settings/watches.hpp"

namespace eckart::app {

/// Runs one service after the other: each reload of the configuration begins another. A new
/// service that fails before it is ready is replaced by one with the previous configuration. A
/// service that stalls ends with ExitCode::temporary, and so does run(); if the service does not
/// end in time, the process does.
class Supervisor {
 public:
  /// What it needs from outside; called on any of its threads.
  struct Parts {
    /// For a reload: reads the configuration and checks it. Throws what is wrong with it.
    std::function<settings::Configuration()> read_configuration;
    /// Throws what keeps a service from being made. `last_done_unix_s`: that of the service before.
    std::function<std::unique_ptr<SupervisedService>(const settings::Configuration& configuration,
                                                     double last_done_unix_s)>
        make_service;
    std::function<void(const std::string& lines)> print_status;
    ServiceManager& manager;  ///< must outlive the supervisor
    ExitProcess exit_process = exit_process_now;
    HealthIntervals intervals{};
  };
  Supervisor(settings::Configuration configuration, Parts parts);

  /// Until stop(), or until a service ends by itself. Throws what has ended it. When it returns or
  /// throws there is no service any more.
  void run();

  // From any thread, also before run():
  void stop();
  void reload();
  /// Prints what the service does now or, if there is no service yet, once there is one.
  void request_status();
  /// What a stop waits for, for the log; empty if that is not known. Does not wait.
  std::string pending_work();
  /// How long the service may take to end after a stop.
  std::chrono::seconds shutdown_timeout() const { return std::chrono::seconds(shutdown_s_); }

 private:
  bool execute();
  std::optional<FatalError> execute_service();
  void start_service(const settings::Configuration& configuration);
  void end_service();
  bool switch_configuration(settings::Configuration configuration);
  std::optional<settings::Configuration> take_next();
  bool is_stopped();
  void start_exit_deadline(const std::string& why);
  void print_status();

  const Parts parts_;
  std::atomic<int> shutdown_s_;
  std::atomic<bool> is_ready_ = false;  // the service
  // Of the thread of run():
  settings::Configuration configuration_;
  std::optional<settings::Configuration> previous_;  // to fall back to
  double last_done_unix_s_ = 0;                      // of the services before
  // Of all threads:
  std::mutex mutex_;
  bool stopped_ = false;
  bool status_requested_ = false;  // while there was no service
  std::optional<settings::Configuration> next_;
  // Of the thread that looks for stalls, until health_ has ended:
  std::optional<std::string> stall_;  // why the service ends, and the process with it
  std::optional<ExitDeadline>
      stall_deadline_;  // before the service, whose threads may hang at its end
  std::unique_ptr<SupervisedService> service_;
  std::optional<ServiceHealth> health_;
};

}  // namespace eckart::app
