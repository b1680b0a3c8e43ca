#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "io/source.hpp"

namespace eckart::app {

/// Counts what a source gives, on a thread of its own. The pipeline takes inputs only as fast as it
/// does them, so its own total comes late.
class InputCount {
 public:
  explicit InputCount(std::unique_ptr<io::Source> source);

  /// Nothing while it counts, and when it cannot. From any thread.
  std::optional<std::int64_t> total() const;

 private:
  const std::unique_ptr<io::Source> source_;
  std::atomic<std::int64_t> total_{-1};
  std::jthread thread_;  // the last member: it is stopped and joined before the others go
};

}  // namespace eckart::app
