#pragma once

namespace eckart::cli {

/// Signals have handlers from before main() on, so that none has the system's default effect while
/// the program begins; what the caller has this program ignore, as nohup does, stays ignored. They
/// are recorded until set_early_signal_mode(); here is what they do from there on, until
/// SignalHandler takes over, and after it.
enum class EarlySignalMode {
  default_action,         ///< of a command that has nothing to finish: the system's effect
  exit_with_signal_code,  ///< of a run: SIGHUP, SIGINT and SIGTERM end it with 128 + the signal
  exit_successfully,  ///< of a service: SIGINT and SIGTERM end it with 0; SIGHUP and SIGUSR1 wait
};
/// Also what has been recorded is done then: the process may end.
void set_early_signal_mode(EarlySignalMode mode);

/// Whether the signal came while it was recorded or waited; it is forgotten then.
bool consume_early_hangup();
bool consume_early_usr1();

}  // namespace eckart::cli
