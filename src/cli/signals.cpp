#include "cli/signals.hpp"

#include <semaphore.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "cli/early_signals.hpp"
#include "core/printable.hpp"

namespace eckart::cli {
namespace {

using std::chrono::seconds;

// Handlers, and not sigwait(): libraries start threads before main() that would have to block the
// signals too. Handlers reach nothing but global state.
constexpr int kStopSignals[] = {SIGHUP, SIGINT, SIGTERM};
std::atomic<int> first_signal{0};
std::atomic<bool> reload{false}, ask{false};
sem_t wake, stopping;

void on_signal(int signal) {
  const int saved = errno;
  int none = 0;
  if (!first_signal.compare_exchange_strong(none, signal)) {
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);  // ends the progress line
    _exit(128 + signal);
  }
  sem_post(&stopping);
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
void on_alarm(int) { _exit(128 + first_signal); }

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

StopSignals::StopSignals(Actions actions) : actions_(std::move(actions)) {
  sem_init(&wake, 0, 0);
  sem_init(&stopping, 0, 0);
  first_signal = 0;
  reload = ask = false;
  ::signal(SIGPIPE, SIG_IGN);  // whoever read the log has left; the images are still wanted
  ::signal(SIGALRM, on_alarm);
  thread_ = std::thread([this] { run(); });
  limit_ = std::thread([this] { limit_shutdown(); });
  for (const int signal : kStopSignals)
    handle(signal, signal == SIGHUP && actions_.on_reload ? on_hangup : on_signal);
  handle(SIGUSR1, on_usr1);
  if (take_early_hangup() && actions_.on_reload) note(reload);
  if (take_early_usr1()) note(ask);
}

void StopSignals::run() {
  while (!ended_) {
    if (sem_wait(&wake) != 0) continue;
    if (ask.exchange(false) && !ended_) actions_.on_ask();
    if (reload.exchange(false) && !ended_) actions_.on_reload();
    if (received() == 0 || ended_) continue;
    actions_.on_stop(received());
    return;
  }
}

/// Apart from run(), which may hang with what it calls.
void StopSignals::limit_shutdown() {
  constexpr seconds kBetweenWords{10}, kForLastWords{2};
  while (sem_wait(&stopping) != 0) {
  }
  if (ended_) return;
  const seconds most = actions_.max_shutdown();
  ::alarm(unsigned((most + kForLastWords).count()));  // in case that the log hangs
  for (seconds left = most; left.count() > 0;) {
    const seconds time = std::min(left, kBetweenWords);
    if (has_ended_within(time)) {
      ::alarm(0);
      return;
    }
    left -= time;
    const std::string waits_for = actions_.waits_for();
    if (left.count() > 0 && !waits_for.empty())
      spdlog::info("stopping: still at work: {}; ends in {} s at the latest", waits_for,
                   left.count());
  }
  const std::string waits_for = actions_.waits_for();
  spdlog::error("stopped after {} s without an end of {}: the next start does that again",
                most.count(), waits_for.empty() ? "its threads" : waits_for);
  _exit(128 + first_signal);
}

bool StopSignals::has_ended_within(seconds time) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += time.count();
  while (sem_clockwait(&stopping, CLOCK_MONOTONIC, &until) != 0) {
    if (errno == ETIMEDOUT) return ended_;
  }
  return true;  // nobody else wakes it
}

int StopSignals::received() const { return first_signal; }

StopSignals::~StopSignals() {
  // A run's results are there, and a service's are, too; who reloads does not end by what comes too
  // late for it.
  set_early_signals(actions_.on_reload ? EarlySignals::end_well : EarlySignals::end_with_signal);
  ended_ = true;
  sem_post(&wake);
  sem_post(&stopping);
  thread_.join();
  limit_.join();
}

}  // namespace eckart::cli
