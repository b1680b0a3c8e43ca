#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/log.hpp"

namespace eckart::capacity {

/// A resource is saturated from this share of its time on.
constexpr double kSaturated = 0.9;
/// Threads that wait for a disk from this share of their time on have done what it let them, where
/// nothing else was saturated.
constexpr double kMostlyWaiting = 0.5;
/// Up to this share of the cores a thread that wants one has it at once, or nearly.
constexpr double kUncrowded = 0.7;
/// From this much longer than its CPU time on a lane's work says that others had the cores.
constexpr double kOthers = 1.5;

/// How a stage's threads spent their time.
struct StageDemand {
  std::string name = {};
  int workers = 1;
  double busy = 0;      ///< share of its threads' time, as its clock has it
  double cpu_busy = 0;  ///< the share in which they computed; otherwise they waited
};

/// Little's law (1961): images in the system = rate x time in it.
struct LittlesLaw {
  double mean_unfinished = 0, rate_per_s = 0, mean_in_system_s = 0;
  double expected_unfinished() const { return rate_per_s * mean_in_system_s; }
};

/// What operational analysis (Denning and Buzen, 1978) takes from a run: the service demand of each
/// resource, D = busy time by images, which is utilisation by rate.
struct Measured {
  std::string run = {};
  int cores = 1, gpus = 0;
  std::int64_t images = 0;    ///< done or failed in the whole run
  double elapsed_s = 0;       ///< of the whole run
  double rate_per_s = 0;      ///< in its steady part
  double rate_error = 0;      ///< relative standard error, as its intervals differ; 0: not known
  std::size_t intervals = 0;  ///< of the steady part; 0: it is the whole run without its start
  double peak_per_s = 0;      ///< the best interval
  double cpu_s = 0;           ///< an image's, of all threads
  double core_share = 0;      ///< of the cores' time
  std::optional<double> gpu_s = {};  ///< an image's, as NVML has it: of any GPU
  double gpu_share = 0;
  std::vector<StageDemand> stages = {};
  std::optional<LittlesLaw> little = {};
  std::optional<double> joules_per_image = {};  ///< of the GPUs
  /// "cores", "GPU", a stage whose threads work, or "disk", for which a stage's threads wait;
  /// empty: nothing was.
  std::string saturated = {};
  bool is_service = false;       ///< its work came when it came
  bool has_set_threads = false;  ///< their number was not left to eckart
  /// How much longer lanes on the CPU took than they computed. They wait for cores alone, so above
  /// one others had these. One where it isn't known.
  double core_wait = 1;

  /// More of the cores' time went elsewhere than this run itself explains.
  bool has_others_on_cores() const { return core_wait > kOthers && core_share <= kUncrowded; }
  /// The stage's threads wait for a disk for most of their time. What is told of it is what was
  /// seen, for with more threads they may only wait longer.
  bool waits_for_disk(const StageDemand& stage) const;
  /// The share of the time of a stage's threads that images took: work, and waiting where that is
  /// not for a core.
  double taken(const StageDemand& stage) const;

  /// The cores that its cost is of: all, where they limited, or else those kept busy.
  double cores_used() const;
  /// Core-seconds by image on those.
  double core_s() const { return cores_used() / rate_per_s; }
  bool is_steady() const { return intervals > 0; }
};

Measured measure(const LoggedRun& run);

/// Those with these cores and GPUs that tell of a rate: the steady ones, where there are any.
std::vector<Measured> alike(const std::vector<Measured>& runs, int cores, int gpus);
/// Their mean, as if they were one run; at least one.
Measured pooled(const std::vector<Measured>& runs);

}  // namespace eckart::capacity
