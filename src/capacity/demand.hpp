#pragma once

#include <optional>
#include <string>
#include <vector>

#include "capacity/log.hpp"

namespace eckart::capacity {

/// A resource is saturated from this share of its time on.
constexpr double kSaturated = 0.9;
/// Up to this share of the cores a thread that wants one has it at once, or nearly.
constexpr double kUncrowded = 0.7;

/// What a stage spends on an image, in one of its threads.
struct StageDemand {
  std::string name = {};
  int workers = 1;
  double cpu_s = 0;
  /// Busy without the CPU: for a disk or a GPU. None where cores were crowded: there a thread also
  /// waits for a core, and the two can't be told apart.
  std::optional<double> wait_s = {};
  double busy = 0;  ///< share of its threads' time, as its clock has it
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
  std::string saturated = {};                   ///< "cores", "GPU" or a stage; empty: nothing was
  bool is_service = false;                      ///< its work came when it came
  bool has_set_threads = false;                 ///< their number was not left to eckart

  /// The cores that its cost is of: all, where it used what they gave, or else those kept busy.
  double cores_used() const;
  /// Core-seconds by image on those.
  double core_s() const { return cores_used() / rate_per_s; }
  /// The share of its time that a resource was busy: "cores", "GPU", or a stage, by its clock.
  double busy(const std::string& resource) const;
};

Measured measure(const LoggedRun& run);

}  // namespace eckart::capacity
