#pragma once

#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

namespace eckart::flow {

/// A named group of threads that run the same body. The one place that catches whatever a thread
/// throws: it is handed to `on_failure`, and never reaches std::terminate.
class Workers {
 public:
  using Body = std::function<void(int index)>;
  /// Called on the thread that failed; must not throw.
  using OnFailure = std::function<void(std::exception_ptr)>;

  /// Starts `count` threads named `name` (at most 12 bytes are kept), each running body(index).
  /// Where one cannot be started, on_failure gets std::bad_alloc if there is no memory for its
  /// stack, and std::system_error (EAGAIN) if there are too many threads.
  Workers(const std::string& name, int count, Body body, OnFailure on_failure);
  /// Waits for every thread to end.
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
