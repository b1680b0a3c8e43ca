#pragma once

#include <chrono>
#include <string>

namespace eckart::app {

/// What a service tells whoever has started it. Thread-safe.
class ServiceManager {
 public:
  virtual ~ServiceManager() = default;
  virtual void notify_ready() = 0;
  virtual void notify_reloading() = 0;
  virtual void notify_stopping() = 0;
  /// Not to be killed: to be sent as often as watchdog_interval() says.
  virtual void notify_watchdog() = 0;
  /// One line about the state of the service.
  virtual void notify_status(const std::string& line) = 0;
  /// Zero where nobody waits for notify_watchdog().
  virtual std::chrono::milliseconds watchdog_interval() const = 0;
};

/// systemd, by sd_notify(3). All of it does nothing where the process was not started as such a
/// service. `systemctl status` shows the line of notify_status().
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
