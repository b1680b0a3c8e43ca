#pragma once

#include <sys/types.h>

#include <atomic>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace eckart::bench {

/// Runs this program anew, one process at a time, which doesn't outlive this one.
class ChildProcess {
 public:
  struct ExitResult {
    int code = 0;  ///< exit code, or 128 + signal
    std::string output;
  };
  /// On these CPUs alone; what it says on stderr is in the file `err` afterwards. Throws
  /// std::system_error. After stop() it runs nothing. On a thread that lives on until it returns.
  ExitResult run(const std::vector<std::string>& arguments, const std::vector<int>& cpus,
                 const std::filesystem::path& err);

  /// Has the process that runs end, and no other begin; from any thread.
  void stop();
  bool is_stopped() const { return stopped_; }

 private:
  int wait_for_exit();

  std::atomic<bool> stopped_{false};
  std::mutex mutex_;  // a process begins and is gone within it
  pid_t process_ = 0;
};

}  // namespace eckart::bench
