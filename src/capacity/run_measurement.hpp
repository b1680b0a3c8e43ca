#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/throughput_log_reader.hpp"
#include "core/resource.hpp"

namespace eckart::capacity {

/// Threads that wait for a disk from this share of their time on have done what it let them, where
/// nothing else was saturated.
constexpr double kDiskSaturationThreshold = 0.5;
/// Up to this share of the cores a thread that wants one has it at once, or nearly.
constexpr double kMaxUncontendedUtilization = 0.7;
/// From this much longer than its CPU time on a lane's work says that others had the cores.
constexpr double kContentionRatio = 1.5;

/// How a stage's threads spent their time.
struct StageUtilization {
  Stage stage = Stage::source;
  int workers = 1;
  double utilization = 0;      ///< share of its threads' time, as its clock has it
  double cpu_utilization = 0;  ///< the share in which they computed; otherwise they waited
};

/// Little's law (1961): images in the system = rate x time in it.
struct LittlesLaw {
  double mean_unfinished = 0, rate_per_s = 0, mean_in_system_s = 0;
  double expected_unfinished() const { return rate_per_s * mean_in_system_s; }
};

/// What operational analysis (Denning and Buzen, 1978) takes from a run: the service demand of each
/// resource, D = busy time by images, which is utilization by rate.
struct RunMeasurement {
  std::string run = {};
  int cores = 1, gpus = 0;
  std::int64_t images = 0;  ///< done or failed in the whole run
  double elapsed_s = 0;     ///< of the whole run
  double rate_per_s = 0;    ///< in its steady part
  double rate_standard_error =
      0;                        ///< relative standard error, as its intervals differ; 0: not known
  std::size_t intervals = 0;    ///< of the steady part; 0: it is the whole run without its start
  double peak_per_s = 0;        ///< the best interval
  double cpu_s_per_image = 0;   ///< an image's, of all threads
  double core_utilization = 0;  ///< of the cores' time
  std::optional<double> gpu_s_per_image = {};  ///< an image's, as NVML has it: of any GPU
  double gpu_utilization = 0;
  std::vector<StageUtilization> stages = {};
  std::optional<LittlesLaw> littles_law = {};
  std::optional<double> joules_per_image = {};  ///< of the GPUs
  /// The disk: a stage's threads wait for it. None: nothing was.
  std::optional<Resource> saturated = {};
  bool is_service = false;            ///< its work came when it came
  bool has_explicit_threads = false;  ///< their number was not left to eckart
  /// How much longer lanes on the CPU took than they computed. They wait for cores alone, so above
  /// one others had these. One where it isn't known.
  double cpu_contention_ratio = 1;

  /// More of the cores' time went elsewhere than this run itself explains.
  bool has_cpu_contention() const {
    return cpu_contention_ratio > kContentionRatio &&
           core_utilization <= kMaxUncontendedUtilization;
  }
  /// The stage's threads wait for a disk for most of their time. What is told of it is what was
  /// seen, for with more threads they may only wait longer.
  bool is_waiting_for_disk(const StageUtilization& stage) const;
  /// The share of the time of a stage's threads that images took: work, and waiting where that is
  /// not for a core.
  double stage_utilization(const StageUtilization& stage) const;

  /// The cores that its cost is of: all, where they limited, or else those kept busy.
  double cores_used() const;
  /// Core-seconds by image on those.
  double core_s_per_image() const { return cores_used() / rate_per_s; }
  bool is_steady() const { return intervals > 0; }
};

RunMeasurement measure(const LoggedRun& run);

/// Those with these cores and GPUs that tell of a rate: the steady ones, where there are any.
std::vector<RunMeasurement> comparable_runs(const std::vector<RunMeasurement>& runs, int cores,
                                            int gpus);
/// Their mean, as if they were one run; at least one.
RunMeasurement average_runs(const std::vector<RunMeasurement>& runs);

}  // namespace eckart::capacity
