#pragma once

#include <chrono>
#include <exception>
#include <functional>
#include <stop_token>

#include "core/error.hpp"
#include "flow/workers.hpp"

namespace eckart::app {

/// Ends the process at once, without destructors or exit handlers, because these may hang.
using ExitProcess = std::function<void(ExitCode)>;
void exit_process_now(ExitCode code);

/// Ends the process with `code` after `time`, even if its threads hang. The destructor cancels the
/// deadline. The next process makes the outputs that were not published.
class ExitDeadline {
 public:
  /// Calls `before_exit` before the exit on a separate thread, and waits for it for a short time.
  /// Throws std::system_error or std::bad_alloc if the thread of the deadline cannot be started.
  ExitDeadline(std::chrono::milliseconds time, ExitCode code, std::function<void()> before_exit,
               ExitProcess exit_process = exit_process_now);
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

 private:
  std::stop_source canceled_;
  std::exception_ptr start_error_;
  flow::Workers thread_;  // last: uses the other members
};

}  // namespace eckart::app
