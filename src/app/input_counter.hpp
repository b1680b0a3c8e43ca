#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "flow/workers.hpp"
#include "io/source.hpp"

namespace eckart::app {

/// Counts the items of a source on a separate thread. The pipeline reads its inputs only as fast as
/// it processes them, so it knows its own total late.
class InputCounter {
 public:
  explicit InputCounter(std::unique_ptr<io::Source> source);
  ~InputCounter() { stop_.request_stop(); }
  InputCounter(const InputCounter&) = delete;
  InputCounter& operator=(const InputCounter&) = delete;

  /// Returns nullopt while it counts and if it cannot count. Callable from any thread.
  std::optional<std::int64_t> total() const;

 private:
  void run();

  const std::unique_ptr<io::Source> source_;
  std::stop_source stop_;
  std::atomic<std::int64_t> total_{-1};
  flow::Workers worker_;  // last: its thread ends before the other members are destroyed
};

}  // namespace eckart::app
