#pragma once

#include <atomic>
#include <exception>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace eckart::flow {

/// A named group of threads that run the same body. Their number may be changed while they run.
/// Catches whatever a thread throws and passes it to `on_failure`, so that std::terminate is never
/// called.
class Workers {
 public:
  using Body = std::function<void(int index)>;
  /// Asks `workers.leaves(index)` from time to time.
  using AdjustableBody = std::function<void(int index, Workers& workers)>;
  /// Called on the thread that failed; must not throw.
  using OnFailure = std::function<void(std::exception_ptr)>;

  /// Starts `count` threads, each running body(index). A thread is named by the first 12 bytes of
  /// `name` and its index. If a thread cannot be started, the remaining ones are not started
  /// either, and on_failure gets std::bad_alloc (no memory for the stack) or std::system_error
  /// (EAGAIN: too many threads).
  Workers(std::string_view name, int count, Body body, OnFailure on_failure);
  Workers(std::string_view name, int count, AdjustableBody body, OnFailure on_failure);
  /// Waits for all threads to end.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// Waits for all threads to end, those added meanwhile included. None can be added afterward.
  void join();

  /// Changes the number of threads to `count`, at least 1. Threads that are missing are started,
  /// also those that left before; one that cannot be started, or that join() waits for, is left
  /// out. Surplus threads end when their bodies ask leaves(). Thread-safe.
  void set_count(int count);
  /// Whether the thread with this index is surplus. If so, its body has to return.
  bool leaves(int index);

 private:
  struct Worker {
    std::thread thread;
    bool has_left = false;  // so that it may be started again
    bool is_joining = false;
  };
  void start(int index);
  void run(int index);

  const AdjustableBody body_;
  const OnFailure on_failure_;
  const std::string name_;
  std::mutex mutex_;
  std::atomic<int> count_;
  bool is_joined_ = false;
  std::vector<Worker> workers_;  // by index
};

}  // namespace eckart::flow
