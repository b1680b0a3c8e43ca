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
  double max_seconds = 0;  ///< of sampling a size, except the first ten rounds; 0: 5, or 1 if quick
  std::function<void(const std::string&)> print_line;  ///< prints a line about the progress
  std::function<void()> read_clock = [] {};            ///< reads the clock of the GPU
  /// Waits until no thread runs that would disturb a measurement.
  std::function<void()> wait_until_idle = [] {};
  std::stop_token stop = {};
};

/// Prints which of the sizes of a table is measured: "pixels, 2 of 6: 64 of 512 × 512, k = 16".
class Progress {
 public:
  /// `title`: empty if the experiment has one table.
  Progress(const ExperimentOptions& options, std::string title, std::size_t sizes)
      : options_(options), title_(std::move(title)), sizes_(sizes) {}
  void next(const std::string& size);

 private:
  const ExperimentOptions& options_;
  const std::string title_;
  const std::size_t sizes_;
  std::size_t begun_ = 0;
};

/// Tables, and whether all results in them were right.
struct ExperimentResult {
  std::vector<Table> tables;
  bool is_right = true;
};

/// Samples the works of a size.
/// `repeats`: how often a call computes.
std::vector<Samples> sample(const std::vector<TimedWork>& works, const ExperimentOptions& options,
                            int repeats = 1);
/// Calls that take longer are not sampled.
double max_call_seconds(const ExperimentOptions& options);
/// What their rows say.
std::string too_slow(const ExperimentOptions& options);
inline constexpr const char* kWrongResult = "its result is wrong";
/// A note for a table that was measured without a GPU. `reason`: why there is none.
std::string without_gpu_note(const std::string& missing, const std::string& reason);

/// The same work on a GPU, after some calls of which the clock is read.
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
