#include "cli/signals.hpp"

#include <pthread.h>
#include <signal.h>
#include <unistd.h>

namespace eckart::cli {
namespace {

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  sigaddset(&set, SIGTERM);
  return set;
}

}  // namespace

StopSignals::StopSignals() {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void StopSignals::listen(std::function<void(int)> on_stop) {
  on_stop_ = std::move(on_stop);
  thread_ = std::thread([this] { run(); });
}

void StopSignals::run() {
  const sigset_t set = stop_signals();
  for (;;) {
    int signal = 0;
    if (sigwait(&set, &signal) != 0 || ended_) return;
    if (received_ != 0) _exit(128 + signal);
    received_ = signal;
    on_stop_(signal);
  }
}

StopSignals::~StopSignals() {
  if (!thread_.joinable()) return;
  ended_ = true;
  pthread_kill(thread_.native_handle(), SIGTERM);
  thread_.join();
}

}  // namespace eckart::cli
