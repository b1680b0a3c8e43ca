#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/throughput_log_reader.hpp"
#include "core/resource.hpp"

namespace eckart::capacity {

/// If threads wait for a disk for at least this share of their time and nothing else is saturated,
/// the disk is saturated.
constexpr double kDiskSaturationThreshold = 0.5;
/// Up to this utilization of the cores, a thread gets a core at once or almost at once.
constexpr double kMaxUncontendedUtilization = 0.7;
/// If the work of a lane takes at least this many times its CPU time, other processes used the
/// cores.
constexpr double kContentionRatio = 1.5;

/// How the threads of a stage spent their time.
struct StageUtilization {
  Stage stage = Stage::source;
  double workers = 1;          ///< mean number of threads
  double utilization = 0;      ///< share of the threads' time, by the clock of the stage
  double cpu_utilization = 0;  ///< share in which they computed; otherwise they waited
};

/// Little's law (1961): images in the system = rate x time in the system.
struct LittlesLaw {
  double mean_unfinished = 0, rate_per_s = 0, mean_in_system_s = 0;
  double expected_unfinished() const { return rate_per_s * mean_in_system_s; }
};

/// The results of operational analysis (Denning and Buzen, 1978) of a run. The service demand of a
/// resource is D = busy time / images = utilization / rate.
struct RunMeasurement {
  std::string run = {};
  int cores = 1, gpus = 0;
  std::int64_t images = 0;  ///< done or failed in the whole run
  double elapsed_s = 0;     ///< of the whole run
  double rate_per_s = 0;    ///< of the steady intervals
  double rate_standard_error =
      0;  ///< relative standard error from the spread of the intervals; 0: unknown
  /// Number of steady intervals; 0: the whole run without its startup is used.
  std::size_t intervals = 0;
  double peak_per_s = 0;        ///< the best interval
  double cpu_s_per_image = 0;   ///< of all threads
  double core_utilization = 0;  ///< share of the time of all cores
  /// GPU time of one image, measured by NVML, summed over GPUs.
  std::optional<double> gpu_s_per_image = {};
  double gpu_utilization = 0;
  std::vector<StageUtilization> stages = {};
  std::optional<LittlesLaw> littles_law = {};
  std::optional<double> joules_per_image = {};  ///< of the GPUs
  /// The saturated resource; none if nothing was saturated. `disk` if the threads of a stage wait
  /// for it.
  std::optional<Resource> saturated = {};
  bool is_service = false;  ///< its rate may be limited by arrivals
  /// The thread settings that were not `auto`, such as "threads.load=8".
  std::vector<std::string> thread_settings = {};
  /// Wall time of CPU lanes divided by their CPU time. CPU lanes wait for cores only, so above 1
  /// other threads used the cores. 1 if unknown.
  double cpu_contention_ratio = 1;

  /// Returns whether other processes used more of the cores than this run itself explains.
  bool has_cpu_contention() const {
    return cpu_contention_ratio > kContentionRatio &&
           core_utilization <= kMaxUncontendedUtilization;
  }
  /// Returns whether the threads of the stage wait for a disk for most of their time. The limit of
  /// the disk is then the observed rate, because more threads might only wait longer.
  bool is_waiting_for_disk(const StageUtilization& stage) const;
  /// Returns the share of the time of the stage's threads that images took: work and waiting,
  /// except waiting for a core.
  double stage_utilization(const StageUtilization& stage) const;

  bool has_explicit_threads() const { return !thread_settings.empty(); }

  /// Returns the number of cores that the cost refers to: all cores if they were the bottleneck, or
  /// else the busy cores.
  double cores_used() const;
  /// Returns core-seconds per image on those cores.
  double core_s_per_image() const { return cores_used() / rate_per_s; }
  bool is_steady() const { return intervals > 0; }
};

RunMeasurement measure(const LoggedRun& run);

/// Returns the runs with these cores and GPUs that show a rate: the steady runs, if there are any.
std::vector<RunMeasurement> comparable_runs(const std::vector<RunMeasurement>& runs, int cores,
                                            int gpus);
/// Returns the mean of the runs as one run; requires at least one.
RunMeasurement average_runs(const std::vector<RunMeasurement>& runs);

}  // namespace eckart::capacity
