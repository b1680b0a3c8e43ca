#pragma once

#include <optional>
#include <span>
#include <vector>

namespace eckart::capacity {

/// A value and its 95 % interval.
struct Interval {
  double value = 0, low = 0, high = 0;
};

/// Runs of the same work on the same machine differ by about this much (docs/capacity.md), so that
/// no run's rate is better known than to it.
constexpr double kRunSpread = 0.03;

/// y measured at N cores.
struct Point {
  double cores = 1, y = 0;
  double error = kRunSpread;  ///< relative standard error
};

/// y = y(1) (1 + ratio (N - 1)) by weighted least squares.
struct Line {
  double at_one = 0;
  Interval ratio;  ///< by Student's t; of two points from their errors alone
};

/// None where all points are at the same N.
std::optional<Line> fit_line(std::span<const Point> points);

/// Amdahl's law (1967) in core-seconds by image: c(N) = c(1) (1 + s (N - 1)), so that N cores are
/// N / (1 + s (N - 1)) times as fast as one.
///
/// Runs at few cores say little of s: between 1 and 2 cores 3 % of noise are 4 % of s, and 60 % of
/// the rate at 16 cores. So what is known of such work beforehand counts as well: s is about 1.5 %,
/// within a factor of 3.6 in 95 of 100 cases. Where runs are precise, or far apart, they decide.
class CoreCost {
 public:
  /// Points: core-seconds by image; at least one.
  explicit CoreCost(std::span<const Point> points);

  Interval core_s(double cores) const;
  /// The serial fraction that the predictions take.
  Interval serial_fraction() const;
  /// False where all runs had the same cores: then the cost is as there, and what is said of more
  /// cores is an upper bound.
  bool is_known() const { return is_known_; }

 private:
  struct Guess {
    double serial = 0, at_one = 0, variance = 0;  ///< of at_one
    double weight = 0;
  };
  bool is_known_ = false;
  std::vector<Guess> guesses_;  ///< the posterior, on a grid of serial fractions
};

}  // namespace eckart::capacity
