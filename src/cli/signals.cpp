#include "cli/signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace eckart::cli {
namespace {

// Handlers, and not sigwait(): libraries start threads before main() that would have to block the
// signals too. Handlers reach nothing but global state.
constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGTERM};
std::atomic<int> first_signal{0};
std::atomic<bool> reload{false}, ask{false};
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

void note(std::atomic<bool>& what) {
  const int saved = errno;
  what = true;
  sem_post(&wake);
  errno = saved;
}

void on_hangup(int) { note(reload); }
void on_usr1(int) { note(ask); }

/// What the caller has this program ignore, as nohup does, stays so; but not SIGUSR1, which the
/// process that this one replaces has left ignored.
void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  if (action.sa_handler == SIG_IGN && signal != SIGUSR1) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

}  // namespace

StopSignals::StopSignals(std::function<void(int)> on_stop, std::function<void()> on_ask,
                         std::function<void()> on_reload)
    : on_stop_(std::move(on_stop)), on_ask_(std::move(on_ask)), on_reload_(std::move(on_reload)) {
  sem_init(&wake, 0, 0);
  first_signal = 0;
  reload = ask = false;
  ::signal(SIGPIPE, SIG_IGN);  // whoever read the log has left; the images are still wanted
  thread_ = std::thread([this] { run(); });
  for (const int signal : kStopSignals)
    handle(signal, signal == SIGHUP && on_reload_ ? on_hangup : on_signal);
  handle(SIGUSR1, on_usr1);
}

void StopSignals::run() {
  while (!ended_) {
    if (sem_wait(&wake) != 0) continue;
    if (ask.exchange(false) && !ended_) on_ask_();
    if (reload.exchange(false) && !ended_) on_reload_();
    if (received() == 0 || ended_) continue;
    on_stop_(received());
    return;
  }
}

int StopSignals::received() const { return first_signal; }

StopSignals::~StopSignals() {
  // Who reloads does not end by what comes too late for it.
  for (const int signal : kStopSignals)
    handle(signal, signal == SIGHUP && on_reload_ ? SIG_IGN : SIG_DFL);
  handle(SIGUSR1, SIG_IGN);  // nor does anybody
  ended_ = true;
  sem_post(&wake);
  thread_.join();
}

}  // namespace eckart::cli
