#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "bench/report/sampling.hpp"
#include "bench/report/table.hpp"

namespace eckart::bench {

enum class Extent {
  all,
  quick,     ///< fewer sizes and fewer samples, so that an experiment ends within a minute
  smallest,  ///< the first of these sizes; for tests
};

struct ExperimentOptions {
  Extent extent = Extent::all;
  double max_seconds = 0;  ///< of sampling a size, except the first rounds; 0: 5, or 1 if quick
  /// Calls that compute longer are not sampled; 0: 1, or 0.5 if quick.
  double max_call_seconds = 0;
  std::function<void(const std::string&)> print_line;  ///< prints a line about the progress
  std::function<void()> read_clock = [] {};            ///< reads the clock of the GPU
  /// Waits until no thread runs that would disturb a measurement.
  std::function<void()> wait_until_idle = [] {};
  std::function<double()> now = {};  ///< a steady clock in seconds; null: that of the machine
  std::stop_token stop = {};
};

/// How often each size is measured, with other sizes between: with memory at another place, and
/// perhaps another clock or other guests of the machine.
inline constexpr int kPasses = 5;

/// A work, its samples of all passes, and why it was not measured; empty: it was.
struct SampledWork {
  TimedWork work;
  MeasuredTimes* times;
  std::string* not_measured;
};

/// Measures a size, of which it gets the index, in a pass, from 0 on.
using MeasureSize = std::function<void(std::size_t size, std::size_t pass)>;

/// Calls `measure` for each size of a table, in kPasses passes through the table. Prints which
/// is measured: "pixels, pass 1 of 5, 1 of 6: 64 of 512 × 512, k = 16". `title` is empty if the
/// experiment has one table. Ends early after a stop request. Returns the number of sizes that were
/// measured at least once; the others are the last ones.
std::size_t measure_in_passes(const ExperimentOptions& options, const std::string& title,
                              const std::vector<std::string>& sizes, const MeasureSize& measure);

/// Samples the works of a size in a pass, and adds the samples to their times. Works that were
/// never sampled and now take too long say so; those with samples are sampled in each pass. After a
/// stop request it changes nothing.
void sample(const std::vector<SampledWork>& works, std::size_t pass,
            const ExperimentOptions& options);

/// Tables, and whether all results in them were right.
struct ExperimentResult {
  std::vector<Table> tables;
  bool is_right = true;
};

/// Calls that take longer are not sampled: what the options say, or what fits their extent.
double max_call_seconds(const ExperimentOptions& options);
/// What their rows say.
std::string too_slow(const ExperimentOptions& options);
/// For the notes of tables with times.
inline constexpr const char* kIntervalNote =
    "± is the 95 % interval of the median, from up to five passes through all sizes.";
inline constexpr const char* kWrongResult = "its result is wrong";
/// A note for a table that was measured without a GPU. `reason`: why there is none.
std::string without_gpu_note(const std::string& missing, const std::string& reason);

/// The same work on a GPU. After some short calls, and after each long one, the clock is read.
TimedWork with_clock(TimedWork work, const ExperimentOptions& options);

/// The sizes of an extent. `smallest`: the first of `quick` if it is empty.
template <class T>
std::vector<T> sizes(const ExperimentOptions& options, std::vector<T> all, std::vector<T> quick,
                     std::vector<T> smallest = {}) {
  if (options.extent == Extent::all) return all;
  if (options.extent == Extent::smallest) {
    if (!smallest.empty()) return smallest;
    quick.resize(1);
  }
  return quick;
}

/// In microseconds; empty without samples.
Cell microseconds(const Estimate& seconds);
/// Empty without samples.
Cell measured_or_empty(const Estimate& estimate);
/// Empty if it is 0.
Cell percent(double share);

/// A plot with logarithmic axes around all points. Lines with fewer than two points are left out,
/// and points without any.
html::Plot logarithmic_plot(const std::string& title, const std::string& x_label,
                            const std::string& y_label, std::vector<html::PlotSeries> lines);

}  // namespace eckart::bench
