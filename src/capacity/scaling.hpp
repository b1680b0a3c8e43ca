#pragma once

#include <optional>
#include <span>
#include <vector>

namespace eckart::capacity {

/// A value and its 95 % interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// Runs of the same work on the same machine differ by about this much
/// (docs/explanation/capacity-model.md), so that no run's rate is better known than to it.
constexpr double kRunNoise = 0.03;

/// Half the 95 % interval of a normal distribution, in standard deviations.
constexpr double kNormalQuantile975 = 1.96;

/// Amdahl's law (1967): how many times as fast as one core N cores are, where the share s of the
/// work on one core is serial.
constexpr double amdahl_speedup(double s, double n) { return n / (1 + s * (n - 1)); }
/// Gustafson's law (1988): how many times as much work N cores do in the same time, where the share
/// s of this time is serial.
constexpr double gustafson_speedup(double s, double n) { return n - s * (n - 1); }

/// y measured at N cores.
struct ScalingPoint {
  double cores = 1, y = 0;
  double error = kRunNoise;  ///< relative standard error
};

/// y = y(1) (1 + ratio (N - 1)) by weighted least squares.
struct LineFit {
  double single_core = 0;
  Estimate ratio;  ///< by Student's t; of two points from their errors alone
};

/// None where all points are at the same N.
std::optional<LineFit> fit_line(std::span<const ScalingPoint> points);

/// Amdahl's law (1967) in core-seconds by image: c(N) = c(1) (1 + s (N - 1)), so that N cores are
/// N / (1 + s (N - 1)) times as fast as one.
///
/// Runs at few cores say little of s: between 1 and 2 cores 3 % of noise are 4 % of s, and 60 % of
/// the rate at 16 cores. So what is known of such work beforehand counts as well: s is about 1.5 %,
/// within a factor of 3.6 in 95 of 100 cases. Where runs are precise, or far apart, they decide.
class CoreCost {
 public:
  /// Points: core-seconds by image; at least one.
  explicit CoreCost(std::span<const ScalingPoint> points);

  Estimate core_s_per_image(double cores) const;
  /// The serial fraction that the predictions take.
  Estimate serial_fraction() const;
  /// False where all runs had the same cores: then the cost is as there, and what is said of more
  /// cores is an upper bound.
  bool is_known() const { return is_known_; }

 private:
  struct PosteriorPoint {
    double serial = 0, single_core = 0, variance = 0;  ///< of single_core
    double weight = 0;
  };
  bool is_known_ = false;
  std::vector<PosteriorPoint> posterior_;  ///< the posterior, on a grid of serial fractions
};

}  // namespace eckart::capacity
