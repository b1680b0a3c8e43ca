#pragma once

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>
#include <vector>

namespace eckart::bench {

/// Threads that wait for work, so that a parallel loop does not have to start them.
class ThreadTeam {
 public:
  /// Throws std::system_error if a thread cannot be started.
  explicit ThreadTeam(int threads);

  using Work = std::function<void(std::size_t begin, std::size_t end)>;
  /// Calls work(begin, end) for parts of [0, size), at most one for each thread, and waits for
  /// them. Parts are multiples of `unit`. `work` must not throw.
  void run(std::size_t size, const Work& work, std::size_t unit = 64);

 private:
  void serve(std::size_t index, const std::stop_token& stop);
  void run_part(std::size_t index) const;

  const std::size_t count_;
  std::mutex mutex_;
  std::condition_variable_any begins_, ends_;
  int generation_ = 0;       // of the work
  std::size_t pending_ = 0;  // threads that have not ended the work
  std::size_t size_ = 0, unit_ = 1;
  const Work* work_ = nullptr;
  std::vector<std::jthread> threads_;  // destroyed first
};

}  // namespace eckart::bench
