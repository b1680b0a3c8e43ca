#pragma once

#include <exception>
#include <functional>
#include <string_view>
#include <thread>
#include <vector>

namespace eckart::flow {

/// A named group of threads that run the same body. Catches whatever a thread throws and passes it
/// to `on_failure`, so that std::terminate is never called.
class Workers {
 public:
  using Body = std::function<void(int index)>;
  /// Called on the thread that failed; must not throw.
  using OnFailure = std::function<void(std::exception_ptr)>;

  /// Starts `count` threads, each running body(index). A thread is named by the first 12 bytes of
  /// `name` and its index. If a thread cannot be started, the remaining ones are not started
  /// either, and on_failure gets std::bad_alloc (no memory for the stack) or std::system_error
  /// (EAGAIN: too many threads).
  Workers(std::string_view name, int count, Body body, OnFailure on_failure);
  /// Waits for all threads to end.
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  void join();

 private:
  void run(int index);

  const Body body_;
  const OnFailure on_failure_;
  std::vector<std::thread> threads_;
};

}  // namespace eckart::flow
