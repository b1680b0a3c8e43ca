#pragma once

#include <chrono>
#include <functional>
#include <stop_token>

#include "core/error.hpp"
#include "flow/workers.hpp"

namespace eckart::app {

/// Ends the process at once, without destructors or exit handlers, which may hang.
using ExitProcess = std::function<void(ExitCode)>;
void exit_process_now(ExitCode code);

/// Ends the process with `code` if it still lives after `time`, whatever its threads wait for;
/// called off by its destructor. What is not published then is done by the next start.
class ExitDeadline {
 public:
  /// `before_exit` is called before that, on a thread of its own, and waited for for a moment.
  ExitDeadline(std::chrono::milliseconds time, ExitCode code, std::function<void()> before_exit,
               ExitProcess exit_process = exit_process_now);
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

 private:
  std::stop_source canceled_;
  flow::Workers thread_;  // last: it uses the other
};

}  // namespace eckart::app
