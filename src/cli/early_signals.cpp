#include "cli/early_signals.hpp"

#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <string_view>

#include "cli/stop_signals.hpp"

namespace eckart::cli {
namespace {

// Initialized at compile time, because handlers run before constructors.
constinit std::atomic<std::uint64_t> recorded{0};  // a bit for each signal

constexpr std::uint64_t bit_of(int signal) { return std::uint64_t(1) << signal; }

void record(int signal) { recorded |= bit_of(signal); }
bool consume(int signal) { return (recorded.fetch_and(~bit_of(signal)) & bit_of(signal)) != 0; }
void exit_with_signal_code_now(int signal) {
  constexpr std::string_view kMessage = "eckart: stopped by a signal before the work began\n";
  static_cast<void>(!::write(STDERR_FILENO, kMessage.data(), kMessage.size()));
  ::_exit(int(exit_code_of(signal)));
}
void exit_successfully_now(int) { ::_exit(0); }

void set_handler(int signal, void (*handler)(int)) {
  struct sigaction action {};
  sigaction(signal, nullptr, &action);
  // SIGUSR1 is ignored if another eckart process was replaced by this one.
  if (action.sa_handler == SIG_IGN && signal != SIGUSR1) return;
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigemptyset(&action.sa_mask);
  sigaction(signal, &action, nullptr);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ECKART_BEFORE_MAIN __attribute__((constructor(101)))
#else
#define ECKART_BEFORE_MAIN
#endif

ECKART_BEFORE_MAIN void install_recorders() {
  for (const int signal : kStopSignals) set_handler(signal, record);
  set_handler(SIGUSR1, record);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// Runs before the constructors of libraries, because some of them are slow.
__attribute__((section(".preinit_array"),
               used)) void (*const kInstallRecordersFirst)() = install_recorders;
#endif

}  // namespace

void set_early_signal_mode(EarlySignalMode mode) {
  using enum EarlySignalMode;
  const auto handler_of = [&](int signal) {
    if (mode == default_action) return SIG_DFL;
    if (mode == exit_with_signal_code) return exit_with_signal_code_now;
    return mode == exit_successfully && signal != SIGHUP ? exit_successfully_now : record;
  };
  for (const int signal : kStopSignals) set_handler(signal, handler_of(signal));
  set_handler(SIGUSR1, mode == default_action ? SIG_IGN : record);
  for (const int signal : kStopSignals) {
    if (handler_of(signal) != record && consume(signal)) ::raise(signal);
  }
}

bool consume_early_hangup() { return consume(SIGHUP); }
bool consume_early_usr1() { return consume(SIGUSR1); }

}  // namespace eckart::cli
