#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>

#include "flow/workers.hpp"
#include "io/source.hpp"

namespace eckart::app {

/// Counts what a source gives, on a thread of its own. The pipeline takes inputs only as fast as it
/// does them, so its own total comes late.
class InputCounter {
 public:
  explicit InputCounter(std::unique_ptr<io::Source> source);
  ~InputCounter() { stop_.request_stop(); }
  InputCounter(const InputCounter&) = delete;
  InputCounter& operator=(const InputCounter&) = delete;

  /// Nothing while it counts, and when it cannot. From any thread.
  std::optional<std::int64_t> total() const;

 private:
  void run();

  const std::unique_ptr<io::Source> source_;
  std::stop_source stop_;
  std::atomic<std::int64_t> total_{-1};
  flow::Workers worker_;  // the last member: it ends before the others go
};

}  // namespace eckart::app
