#include "app/service_manager.hpp"

#include <systemd/sd-daemon.h>

#include <cstdint>
#include <ctime>

namespace eckart::app {
namespace {

void notify(const std::string& state) { static_cast<void>(::sd_notify(0, state.c_str())); }

}  // namespace

void SystemdServiceManager::notify_ready() { notify("READY=1"); }

void SystemdServiceManager::notify_reloading() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const std::int64_t us = std::int64_t(now.tv_sec) * 1000000 + now.tv_nsec / 1000;
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(us));
}

void SystemdServiceManager::notify_stopping() { notify("STOPPING=1"); }

void SystemdServiceManager::notify_watchdog() { notify("WATCHDOG=1"); }

void SystemdServiceManager::notify_status(const std::string& line) { notify("STATUS=" + line); }

std::chrono::milliseconds SystemdServiceManager::watchdog_interval() const {
  constexpr int kNotificationsPerTimeout = 3;  // within the watchdog timeout of systemd
  std::uint64_t us = 0;
  if (::sd_watchdog_enabled(0, &us) <= 0) return {};
  return std::chrono::milliseconds(us / 1000 / kNotificationsPerTimeout);
}

}  // namespace eckart::app
