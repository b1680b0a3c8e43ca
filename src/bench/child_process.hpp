#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace eckart::bench {

/// Runs this program as a child process, one at a time. The child ends when this process ends.
class ChildProcess {
 public:
  struct ExitResult {
    int code = 0;  ///< exit code, or 128 + signal
    std::string output;
  };
  /// Runs the program on these CPUs and waits for it. Its stderr is written to `stderr_file`.
  /// Throws std::system_error. Runs nothing after stop(). The calling thread must not end before
  /// this returns.
  ExitResult run(const std::vector<std::string>& arguments, const std::vector<int>& cpus,
                 const std::filesystem::path& stderr_file);

  /// Ends the running child, and prevents further ones. May be called from any thread.
  void stop();
  bool is_stopped() const { return is_stopped_; }

 private:
  int wait_for_exit();

  std::atomic<bool> is_stopped_{false};
  std::mutex mutex_;  // held while a child is started or reaped
  pid_t process_ = 0;
};

}  // namespace eckart::bench
