#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/outcome.hpp"
#include "machine/usage.hpp"
#include "telemetry/duration_histogram.hpp"

namespace eckart::telemetry {

/// What became of images, and how much that was.
struct ImageCounts {
  std::int64_t done = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::array<std::int64_t, kFailureReasonCount> failures{};  ///< by FailureReason
  std::array<std::array<std::int64_t, kFailureReasonCount>, kStageCount>
      failures_by_stage{};  ///< likewise, by Stage
  std::array<std::int64_t, kStageCount>
      retries_by_stage{};         ///< by Stage: given back, to come again
  std::int64_t pixels = 0;        ///< of images done
  std::int64_t planes = 0;        ///< of images done
  std::int64_t outputs = 0;       ///< of images done
  std::int64_t input_bytes = 0;   ///< file bytes read
  std::int64_t output_bytes = 0;  ///< file bytes written

  std::int64_t images() const { return done + skipped + failed; }
};

/// One stage. Seconds are sums over its workers, and the three add up to workers x time.
struct StageStats {
  std::string name;
  int workers = 0;
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double blocked_s = 0;
  double cpu_s = 0;           ///< of its threads
  std::int64_t images = 0;    ///< that left it
  DurationHistogram service;  ///< of an image; docs/reference/throughput-log.md says what that is
};

/// The wait before a stage.
struct QueueStats {
  std::string name;
  std::int64_t images = 0;  ///< in it at the end
  std::int64_t capacity = 0;
  DurationHistogram wait;
};

struct BatchStats {
  std::int64_t count = 0;
  std::int64_t planes = 0;
  std::int64_t plane_capacity = 0;
};

/// An image that failed, for people.
struct ImageFailure {
  double unix_s = 0;  ///< when
  std::string file;
  Stage stage = Stage::source;
  FailureReason reason = FailureReason::none;
  std::string detail;
};

/// A pipeline and its machine, from the start of the pipeline to `elapsed_s`, or, as a difference
/// of two, in the last `seconds` of it.
struct Snapshot {
  double elapsed_s = 0;
  double seconds = 0;
  std::optional<double> startup_s;   ///< until there was a backend
  std::string backend, device;       ///< empty before that
  std::vector<std::string> gpu_ids;  ///< of those that compute, on the PCI bus
  std::int64_t found = 0;
  std::int64_t unfinished = 0;  ///< found, and not at their end
  ImageCounts counts;
  std::vector<StageStats> stages;
  std::vector<QueueStats> queues;
  DurationHistogram end_to_end;         ///< of images done, from found to published
  double oldest_unfinished_unix_s = 0;  ///< when the oldest unfinished was found; 0: there is none
  double last_done_unix_s = 0;          ///< when an image was last done; 0: none was
  std::deque<ImageFailure> recent_failures;  ///< some, the latest first
  BatchStats batches;
  std::int64_t budget_bytes = 0, budget_used_bytes = 0;
  std::int64_t oom_splits = 0, cpu_fallback_images = 0;
  machine::MachineUsage machine;

  /// What came after `earlier`, a snapshot of the same pipeline.
  Snapshot since(const Snapshot& earlier) const;
};

/// Of its workers together: busy and waiting.
double total_time_s(const StageStats& stage);
/// The share of the time that something was used, 0 to 1.
double busy_ratio(const StageStats& stage);
double busy_ratio(const machine::GpuUsage& gpu);
/// Of all cores together, in so many seconds.
double busy_ratio(const machine::MachineUsage& machine, double seconds);

/// What limits the rate.
struct Bottleneck {
  std::string resource;  ///< "cpu", "gpu", a stage's name; empty where nothing is saturated
  double busy = 0;       ///< its share, or that of the busiest stage
  std::string text;      ///< a sentence; empty where nothing was ever busy
};
/// Of what was seen in so many seconds. Cores and GPUs are what stages share: where they are
/// saturated, the threads that seem busy wait for them.
Bottleneck find_bottleneck(const std::vector<StageStats>& stages,
                           const machine::MachineUsage& machine, double seconds);

}  // namespace eckart::telemetry
