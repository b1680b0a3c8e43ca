#pragma once

#include <chrono>
#include <string>

namespace eckart::app {

/// Notifications to the service manager that started the process. Thread-safe.
class ServiceManager {
 public:
  virtual ~ServiceManager() = default;
  virtual void notify_ready() = 0;
  virtual void notify_reloading() = 0;
  virtual void notify_stopping() = 0;
  /// Prevents a kill by the watchdog. Call it at least once per watchdog_interval().
  virtual void notify_watchdog() = 0;
  /// Sends one line about the state of the service.
  virtual void notify_status(const std::string& line) = 0;
  /// Returns zero if no watchdog is active.
  virtual std::chrono::milliseconds watchdog_interval() const = 0;
};

/// Notifies systemd with sd_notify(3). Does nothing if the process was not started as a service of
/// type notify. `systemctl status` shows the line of notify_status().
class SystemdServiceManager : public ServiceManager {
 public:
  void notify_ready() override;
  void notify_reloading() override;
  void notify_stopping() override;
  void notify_watchdog() override;
  void notify_status(const std::string& line) override;
  std::chrono::milliseconds watchdog_interval() const override;
};

}  // namespace eckart::app
