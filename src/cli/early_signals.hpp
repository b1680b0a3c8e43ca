#pragma once

namespace eckart::cli {

/// How signals are handled between set_early_signal_mode() and SignalHandler, and after
/// SignalHandler. Handlers are installed before main(), so that no signal has the default action of
/// the system while the program starts. Until set_early_signal_mode(), they only record signals. A
/// signal that the caller ignores, for example with nohup, stays ignored.
enum class EarlySignalMode {
  default_action,         ///< for a command with nothing to finish: the default action
  exit_with_signal_code,  ///< for a run: SIGHUP, SIGINT and SIGTERM exit with 128 + signal
  exit_successfully,      ///< for a service: SIGINT and SIGTERM exit with 0
};
/// Sets the mode and applies it to signals that were recorded; this may end the process. SIGUSR1 is
/// ignored with `default_action` and recorded otherwise. With `exit_successfully`, SIGHUP is
/// recorded.
void set_early_signal_mode(EarlySignalMode mode);

/// Returns whether the signal was recorded, and clears it.
bool consume_early_hangup();
bool consume_early_usr1();

}  // namespace eckart::cli
