#pragma once

#include <chrono>
#include <string>

namespace eckart::app {

/// What a service tells systemd, by sd_notify(3). All of it does nothing where the process was not
/// started as such a service.
void notify_ready();
void notify_reloading();
void notify_stopping();
/// Not to be killed: to be sent as often as watchdog_interval() says.
void notify_watchdog();
/// One line, which `systemctl status` shows.
void notify_status(const std::string& line);

/// Zero where nobody waits for notify_watchdog().
std::chrono::milliseconds watchdog_interval();

}  // namespace eckart::app
