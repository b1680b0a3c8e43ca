#include "cli/signal_handler.hpp"

#include <semaphore.h>
#include <signal.h>
#include <spdlog/spdlog.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "cli/early_signals.hpp"
#include "cli/stop_signals.hpp"
#include "text/printable.hpp"

namespace eckart::cli {
namespace {

using std::chrono::seconds;

// Uses handlers instead of sigwait(), because libraries start threads before main() that would have
// to block the signals too. Handlers can access only global state. One request may arrive as two
// signals: timeout(1) signals its child, and then its process group.
constexpr std::int64_t kSameRequest_ns = 200'000'000;
std::atomic<int> first_signal{0};
std::atomic<std::int64_t> first_signal_ns{0};
std::atomic<bool> reload_requested{false}, status_requested{false};
sem_t wake_semaphore, stop_semaphore;

std::int64_t monotonic_ns() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t(now.tv_sec) * 1'000'000'000 + now.tv_nsec;
}

void on_signal(int signal) {
  const int saved = errno;
  std::int64_t none = 0;
  const std::int64_t now = monotonic_ns();
  if (!first_signal_ns.compare_exchange_strong(none, now)) {
    if (now - first_signal_ns < kSameRequest_ns) return;
    if (isatty(STDERR_FILENO)) (void)!write(STDERR_FILENO, "\n", 1);  // after the progress line
    _exit(int(exit_code_of(signal)));
  }
  first_signal = signal;
  sem_post(&stop_semaphore);
  sem_post(&wake_semaphore);
  errno = saved;
}

void request(std::atomic<bool>& what) {
  const int saved = errno;
  what = true;
  sem_post(&wake_semaphore);
  errno = saved;
}

void on_hangup(int) { request(reload_requested); }
void on_usr1(int) { request(status_requested); }
void on_alarm(int) { _exit(int(exit_code_of(first_signal))); }

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

SignalHandler::SignalHandler(Actions actions) : actions_(std::move(actions)) {
  sem_init(&wake_semaphore, 0, 0);
  sem_init(&stop_semaphore, 0, 0);
  first_signal = 0;
  first_signal_ns = 0;
  reload_requested = status_requested = false;
  ::signal(SIGPIPE, SIG_IGN);  // if the reader of the log exits, processing continues
  ::signal(SIGALRM, on_alarm);
  thread_ = std::thread([this] { run(); });
  try {
    limit_thread_ = std::thread([this] { limit_shutdown(); });
  } catch (const std::system_error&) {  // too many threads
    ended_ = true;
    sem_post(&wake_semaphore);
    thread_.join();
    throw;
  }
  for (const int signal : kStopSignals)
    handle(signal, signal == SIGHUP && actions_.on_reload ? on_hangup : on_signal);
  handle(SIGUSR1, on_usr1);
  if (consume_early_hangup() && actions_.on_reload) request(reload_requested);
  if (consume_early_usr1()) request(status_requested);
}

void SignalHandler::run() {
  bool is_stopping = false;
  while (!ended_) {
    if (sem_wait(&wake_semaphore) != 0) continue;
    if (status_requested.exchange(false) && !ended_) actions_.on_status_request();
    if (reload_requested.exchange(false) && !ended_ && !is_stopping) actions_.on_reload();
    if (received() == 0 || ended_ || is_stopping) continue;
    is_stopping = true;
    actions_.on_stop(received());
  }
}

/// Runs on another thread than run(), because the callbacks of run() may hang.
void SignalHandler::limit_shutdown() {
  constexpr seconds kReportInterval{10}, kLogTimeout{2};
  while (sem_wait(&stop_semaphore) != 0) {
  }
  if (ended_) return;
  const seconds timeout = actions_.shutdown_timeout();
  ::alarm(unsigned((timeout + kLogTimeout).count()));  // in case the log hangs
  for (seconds left = timeout; left.count() > 0;) {
    const seconds time = std::min(left, kReportInterval);
    if (wait_for_end(time)) {
      ::alarm(0);
      return;
    }
    left -= time;
    const std::string pending_work = actions_.pending_work();
    if (left.count() > 0 && !pending_work.empty())
      spdlog::info("stopping: waiting for {}; forced exit in {} s", pending_work, left.count());
  }
  const std::string pending_work = actions_.pending_work();
  spdlog::error(
      "forced exit after {} s while waiting for {}; the next run processes what was not finished",
      timeout.count(), pending_work.empty() ? "its threads" : pending_work);
  _exit(int(exit_code_of(first_signal)));
}

bool SignalHandler::wait_for_end(seconds time) {
  timespec until{};
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_sec += time.count();
  while (sem_clockwait(&stop_semaphore, CLOCK_MONOTONIC, &until) != 0) {
    if (errno == ETIMEDOUT) return ended_;
  }
  return true;  // only the destructor wakes it
}

int SignalHandler::received() const { return first_signal; }

SignalHandler::~SignalHandler() {
  // All results are written. Later signals do not change the exit code of a service.
  set_early_signal_mode(actions_.on_reload ? EarlySignalMode::exit_successfully
                                           : EarlySignalMode::exit_with_signal_code);
  ended_ = true;
  sem_post(&wake_semaphore);
  sem_post(&stop_semaphore);
  thread_.join();
  limit_thread_.join();
}

}  // namespace eckart::cli
