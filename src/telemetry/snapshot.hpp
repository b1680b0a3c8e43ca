#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/durations.hpp"
#include "core/outcome.hpp"

namespace eckart::telemetry {

/// What became of images, and how much that was.
struct Counts {
  std::int64_t done = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::array<std::int64_t, kReasonCount> failures{};  ///< by Reason
  std::array<std::array<std::int64_t, kReasonCount>, kStageCount>
      failures_in{};                                   ///< likewise, by Stage
  std::array<std::int64_t, kStageCount> retries_in{};  ///< by Stage: given back, to come again
  std::int64_t pixels = 0;                             ///< of images done
  std::int64_t planes = 0;                             ///< of images done
  std::int64_t outputs = 0;                            ///< of images done
  std::int64_t input_bytes = 0;                        ///< file bytes read
  std::int64_t output_bytes = 0;                       ///< file bytes written

  std::int64_t images() const { return done + skipped + failed; }
};

/// One stage. Seconds are sums over its workers, and the three add up to workers x time.
struct StageRow {
  std::string name;
  int workers = 0;
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double waiting_for_room_s = 0;
  double cpu_s = 0;         ///< of its threads
  std::int64_t images = 0;  ///< that left it
  Durations service;        ///< of an image; docs/throughput-log.md says what that is
};

/// The wait before a stage.
struct QueueRow {
  std::string name;
  std::int64_t images = 0;  ///< in it at the end
  std::int64_t capacity = 0;
  Durations wait;
};

struct BatchCounts {
  std::int64_t count = 0;
  std::int64_t planes = 0;
  std::int64_t planes_if_full = 0;
};

/// What the machine gave this process.
struct ProcessUse {
  double cpu_s = 0;  ///< user and system, of all threads
  std::int64_t rss_bytes = 0, peak_rss_bytes = 0;
  int threads = 0;
};

/// An image that failed, for people.
struct Failure {
  double unix_s = 0;  ///< when
  std::string file;
  Stage stage = Stage::source;
  Reason reason = Reason::none;
  std::string detail;
};

/// Why a GPU's clocks are held down.
enum class Throttle { power, thermal, hardware, sync, other };
constexpr int kThrottleCount = int(Throttle::other) + 1;
std::string_view to_string(Throttle throttle);

/// One GPU in some time, as NVML has it.
struct GpuUse {
  std::string uuid;
  double seconds = 0;        ///< that were looked at
  double busy_s = 0;         ///< of these, in which a kernel ran
  double memory_busy_s = 0;  ///< likewise, in which memory was read or written
  double energy_j = 0;
  std::int64_t memory_used_bytes = 0;  ///< by everyone, at the end, and the following
  int sm_mhz = 0, memory_mhz = 0, temperature_c = 0;
  /// How often, of a look each second, clocks were held down, by Throttle.
  std::array<std::int64_t, kThrottleCount> throttled{};
};

/// What the machine has, and this process and others had of it.
struct Machine {
  int cores = 0;  ///< logical CPUs that this process may use; 0: not known
  ProcessUse process;
  std::vector<GpuUse> gpus;
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
  Counts counts;
  std::vector<StageRow> stages;
  std::vector<QueueRow> queues;
  Durations end_to_end;                 ///< of images done, from found to published
  double oldest_unix_s = 0;             ///< when the oldest unfinished was found; 0: there is none
  double last_done_unix_s = 0;          ///< when an image was last done; 0: none was
  std::deque<Failure> recent_failures;  ///< some, the latest first
  BatchCounts batches;
  std::int64_t budget_bytes = 0, budget_used_bytes = 0;
  std::int64_t oom_splits = 0, cpu_fallback_images = 0;
  Machine machine;

  /// What came after `earlier`, a snapshot of the same pipeline.
  Snapshot since(const Snapshot& earlier) const;
};

/// Of its workers together: busy and waiting.
double total_s(const StageRow& stage);
/// The share of the time that something was used, 0 to 1.
double busy_share(const StageRow& stage);
double busy_share(const GpuUse& gpu);
/// Of all cores together, in so many seconds.
double busy_share(const Machine& machine, double seconds);

/// What limits the rate.
struct Bottleneck {
  std::string resource;  ///< "cpu", "gpu", a stage's name; empty where nothing is saturated
  double busy = 0;       ///< its share, or that of the busiest stage
  std::string text;      ///< a sentence; empty where nothing was ever busy
};
/// Of what was seen in so many seconds. Cores and GPUs are what stages share: where they are
/// saturated, the threads that seem busy wait for them.
Bottleneck bottleneck_of(const std::vector<StageRow>& stages, const Machine& machine,
                         double seconds);

}  // namespace eckart::telemetry
