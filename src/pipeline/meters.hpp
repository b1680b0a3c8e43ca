#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/durations.hpp"
#include "core/outcome.hpp"

namespace eckart {

using Instant = std::chrono::steady_clock::time_point;

/// What is measured of a pipeline, besides its clocks: written by its workers, read by anybody at
/// any time. docs/throughput-log.md says what the service of each stage is.
class Meters {
 public:
  DurationCounter& service(Stage stage) { return service_[std::size_t(stage)]; }
  const DurationCounter& service(Stage stage) const { return service_[std::size_t(stage)]; }

  DurationCounter found, loaded, batches, finished;  ///< waits in these queues
  DurationCounter end_to_end;
  std::atomic<std::int64_t> batch_count{0}, planes{0}, planes_if_full{0};  ///< that were batched

 private:
  std::array<DurationCounter, kStageCount> service_;
};

}  // namespace eckart
