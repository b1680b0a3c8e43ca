#pragma once

#include <chrono>
#include <functional>

#include "core/error.hpp"
#include "flow/workers.hpp"

namespace eckart::cli {

/// Ends the process with `code` if it still lives after `time`, whatever its threads wait for;
/// called off by its destructor. What is not published then is done by the next start.
class ExitDeadline {
 public:
  /// `before_exit` is called before that, on a thread of its own, and waited for for a moment.
  ExitDeadline(std::chrono::milliseconds time, ExitCode code, std::function<void()> before_exit);
  ~ExitDeadline();
  ExitDeadline(const ExitDeadline&) = delete;
  ExitDeadline& operator=(const ExitDeadline&) = delete;

 private:
  std::stop_source canceled_;
  flow::Workers thread_;  // last: it uses the other
};

}  // namespace eckart::cli
