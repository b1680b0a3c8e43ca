#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/outcome.hpp"
#include "core/resource.hpp"
#include "machine/usage.hpp"
#include "telemetry/duration_histogram.hpp"

namespace eckart::telemetry {

/// Numbers of files by extension; a limited number of extensions.
using CountsByExtension = std::vector<std::pair<std::string, std::int64_t>>;

/// Numbers of images by result, and their amounts.
struct ImageCounts {
  std::int64_t done = 0;
  std::int64_t skipped = 0;
  std::int64_t failed = 0;
  std::array<std::int64_t, kFailureReasonCount> failures{};  ///< by FailureReason
  std::array<std::array<std::int64_t, kFailureReasonCount>, kStageCount>
      failures_by_stage{};  ///< by Stage and FailureReason
  std::array<std::int64_t, kStageCount>
      retries_by_stage{};         ///< by Stage: images returned for a retry
  std::int64_t pixels = 0;        ///< of images done
  std::int64_t planes = 0;        ///< of images done
  std::int64_t outputs = 0;       ///< of images done
  std::int64_t input_bytes = 0;   ///< file bytes read
  std::int64_t output_bytes = 0;  ///< file bytes written

  std::int64_t images() const { return done + skipped + failed; }
};

/// One stage. Seconds are sums over its workers. Busy, waiting and blocked time add up to workers x
/// time; if the number of workers changed, to their mean number x time.
struct StageStats {
  Stage stage = Stage::source;
  int workers = 0;           ///< now
  bool is_adaptive = false;  ///< the pipeline adapts their number
  double busy_s = 0;
  double waiting_for_input_s = 0;
  double blocked_s = 0;
  double cpu_s = 0;           ///< CPU time of its threads
  std::int64_t images = 0;    ///< that left the stage
  DurationHistogram service;  ///< per image; see docs/reference/throughput-log.md
};

/// The queue before a stage.
struct QueueStats {
  std::string name;
  std::int64_t images = 0;  ///< in the queue at the end of the interval
  std::int64_t capacity = 0;
  DurationHistogram wait;
};

struct BatchStats {
  std::int64_t count = 0;
  std::int64_t planes = 0;
  std::int64_t plane_capacity = 0;
};

/// A failed image, for display.
struct ImageFailure {
  double unix_s = 0;  ///< time of the failure
  std::string file;
  Stage stage = Stage::source;
  FailureReason reason = FailureReason::none;
  std::string detail;
};

/// The state of a pipeline and its machine: from the start of the pipeline to `elapsed_s`, or, as a
/// difference of two snapshots, over the last `seconds`.
struct Snapshot {
  double elapsed_s = 0;
  double seconds = 0;
  std::optional<double> startup_s;   ///< until the backend was ready; nothing before
  std::string backend, device;       ///< empty until then
  std::vector<std::string> gpu_ids;  ///< PCI bus IDs of the GPUs that compute
  std::int64_t found = 0;
  std::int64_t unfinished = 0;  ///< found and not finished
  ImageCounts counts;
  std::vector<StageStats> stages;
  std::vector<QueueStats> queues;
  DurationHistogram end_to_end;         ///< of images done, from found to published
  double oldest_unfinished_unix_s = 0;  ///< when the oldest unfinished image was found; 0: none
  double last_done_unix_s = 0;          ///< when the last image was done; 0: none
  std::deque<ImageFailure> recent_failures;  ///< a limited number, latest first
  /// Files that are not read because of their names, now. Of a run: once all inputs are listed.
  CountsByExtension not_read;
  BatchStats batches;
  std::int64_t budget_bytes = 0, budget_used_bytes = 0;
  std::int64_t oom_splits = 0, cpu_fallback_images = 0;
  machine::MachineUsage machine;

  /// The difference to `earlier`, a snapshot of the same pipeline.
  Snapshot since(const Snapshot& earlier) const;
};

/// Busy, waiting and blocked time of all workers.
double total_time_s(const StageStats& stage);
/// The share of the time in which a stage or GPU was busy, 0 to 1.
double busy_ratio(const StageStats& stage);
double busy_ratio(const machine::GpuUsage& gpu);
/// The share of `seconds` in which all cores together were used.
double busy_ratio(const machine::MachineUsage& machine, double seconds);

/// The bottleneck: what limits the rate.
struct Bottleneck {
  std::optional<Resource> resource = {};  ///< none if nothing is saturated
  double busy = 0;                        ///< busy ratio of the resource, or of the busiest stage
  /// The busiest stage; if the cores are saturated, the one with the most CPU time. None if no
  /// stage was busy, or the GPU is the bottleneck.
  std::optional<Stage> stage = {};
  double stage_cpu_share = 0;  ///< if the cores are saturated: the share of CPU time of `stage`
  /// If a stage or the disk is the resource: the threads of `stage`, unless the pipeline adapts
  /// their number; otherwise 0.
  int stage_workers = 0;
  /// If a stage is named and no core was idle for long: the share of the cores that other programs
  /// used, for which the stage may have waited. 0: unknown.
  double other_programs = 0;
};
/// The name of a resource in reports, logs and the progress line: cpu, gpu, disk, or the stage.
std::string_view short_name(Resource resource);

/// Finds the bottleneck of an interval of `seconds`. All stages share the cores and GPUs: if these
/// are saturated, threads that seem busy wait for them.
Bottleneck find_bottleneck(const std::vector<StageStats>& stages,
                           const machine::MachineUsage& machine, double seconds);

}  // namespace eckart::telemetry
