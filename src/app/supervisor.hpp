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

/// Runs one service after another: each reload of the configuration starts a new service. If a new
/// service fails before it is ready, the previous configuration is used again. If a service stalls,
/// it and run() end with ExitCode::temporary. If it does not end in time, the process exits.
class Supervisor {
 public:
  /// Dependencies; called on any thread of the supervisor.
  struct Parts {
    /// Reads and checks the configuration for a reload. Throws the error of an invalid
    /// configuration.
    std::function<settings::Configuration()> read_configuration;
    /// Throws if the service cannot be made. `last_done_unix_s`: of the previous service.
    std::function<std::unique_ptr<SupervisedService>(const settings::Configuration& configuration,
                                                     double last_done_unix_s)>
        make_service;
    std::function<void(const std::string& lines)> print_status;
    ServiceManager& manager;  ///< must outlive the supervisor
    ExitProcess exit_process = exit_process_now;
    HealthIntervals intervals{};
    /// How long a service may take to start if timeouts.stall_s is shorter.
    std::chrono::milliseconds min_start_timeout = std::chrono::minutes(1);
  };
  Supervisor(settings::Configuration configuration, Parts parts);

  /// Runs until stop(), or until a service ends by itself. Throws the error of that service. When
  /// it returns or throws, no service exists any more.
  void run();

  // Callable from any thread, also before run():
  void stop();
  void reload();
  /// Prints the state of the service, or prints it as soon as there is a service.
  void request_status();
  /// Describes, for the log, the work that a stop waits for; empty if unknown. Does not block.
  std::string pending_work();
  /// Returns how long the service may take to end after a stop.
  std::chrono::seconds shutdown_timeout() const { return std::chrono::seconds(shutdown_s_); }

 private:
  bool execute();
  std::optional<FatalError> execute_service();
  void start_service(const settings::Configuration& configuration);
  void end_service();
  bool switch_configuration(settings::Configuration configuration);
  std::optional<settings::Configuration> take_next();
  bool has_next();
  bool is_stopped();
  void start_exit_deadline(const std::string& message);
  void print_status();

  const Parts parts_;
  std::atomic<int> shutdown_s_;
  std::atomic<bool> is_ready_ = false;  // whether the service is ready
  // Used by the thread of run():
  settings::Configuration configuration_;
  std::optional<settings::Configuration> previous_;  // the fallback
  double last_done_unix_s_ = 0;                      // of the previous services
  // Used by all threads:
  std::mutex mutex_;
  bool stopped_ = false;
  bool status_requested_ = false;  // a request that came while there was no service
  std::optional<settings::Configuration> next_;
  // Used by the stall detector thread until health_ is destroyed:
  std::optional<std::string> stall_;  // the message of the stall that ends the process
  // Before the service, whose threads may hang when it is destroyed.
  std::optional<ExitDeadline> stall_deadline_;
  std::unique_ptr<SupervisedService> service_;
  std::optional<ServiceHealth> health_;
};

}  // namespace eckart::app
