#pragma once

#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <fstream>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/support/wait_for.hpp"

namespace eckart::test {

/// True if the thread of this process with this kernel ID sleeps.
inline bool is_asleep(long id) {
  std::ifstream stat("/proc/self/task/" + std::to_string(id) + "/stat");
  std::string text;
  std::getline(stat, text);
  const std::size_t name_end = text.rfind(')');
  return name_end != std::string::npos && name_end + 2 < text.size() && text[name_end + 2] == 'S';
}

/// A thread that can be observed to sleep in the kernel, so that a test needs no fixed delay. The
/// destructor joins it.
class WaitingThread {
 public:
  explicit WaitingThread(std::function<void()> body)
      : thread_([this, body = std::move(body)] {
          id_ = syscall(SYS_gettid);
          body();
          ended_ = true;
        }) {}
  ~WaitingThread() { join(); }

  /// Waits until the thread sleeps. Returns false if it ended instead.
  bool wait_until_asleep() const {
    bool sleeps = false;
    return wait_for([&] { return ended_ || (sleeps = id_ != 0 && is_asleep(id_)); }) && sleeps;
  }
  void join() {
    if (thread_.joinable()) thread_.join();
  }

 private:
  std::atomic<long> id_ = 0;
  std::atomic<bool> ended_ = false;
  std::thread thread_;
};

}  // namespace eckart::test
