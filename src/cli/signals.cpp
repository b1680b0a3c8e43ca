#include "cli/signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>

namespace eckart::cli {
namespace {

// Handlers, and not sigwait(): libraries start threads before main() that would have to block the
// signals too. Handlers reach nothing but global state.
constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGTERM};
std::atomic<int> first_signal{0};
sem_t wake;

void on_signal(int signal) {
  const int saved = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) {
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);  // ends the progress line
    _exit(128 + signal);
  }
  sem_post(&wake);
  errno = saved;
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::function<void(int)> on_stop) : on_stop_(std::move(on_stop)) {
  sem_init(&wake, 0, 0);
  first_signal = 0;
  ::signal(SIGPIPE, SIG_IGN);  // whoever read the log has left; the images are still wanted
  thread_ = std::thread([this] { run(); });
  for (const int signal : kStopSignals) handle(signal, on_signal);
}

void StopSignals::run() {
  while (sem_wait(&wake) != 0) {
  }
  if (!ended_) on_stop_(received());
}

int StopSignals::received() const { return first_signal; }

StopSignals::~StopSignals() {
  for (const int signal : kStopSignals) handle(signal, SIG_DFL);
  ended_ = true;
  sem_post(&wake);
  thread_.join();
}

}  // namespace eckart::cli
