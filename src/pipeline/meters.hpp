#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/outcome.hpp"
#include "telemetry/duration_histogram.hpp"

namespace eckart::pipeline {

/// Measurements of a pipeline, besides its clocks. Workers write them; any thread may read them at
/// any time. docs/reference/throughput-log.md defines the service time of each stage.
class Meters {
 public:
  telemetry::DurationRecorder& service(Stage stage) { return service_[std::size_t(stage)]; }
  const telemetry::DurationRecorder& service(Stage stage) const {
    return service_[std::size_t(stage)];
  }

  telemetry::DurationRecorder found, loaded, batches, finished;  ///< waiting times in these queues
  telemetry::DurationRecorder end_to_end;
  std::atomic<std::int64_t> batch_count{0}, planes{0},
      plane_capacity{0};  ///< totals of all batches sent

 private:
  std::array<telemetry::DurationRecorder, kStageCount> service_;
};

}  // namespace eckart::pipeline
