#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace eckart::capacity {

/// A value and its 95 % interval.
struct Estimate {
  double value = 0, low = 0, high = 0;
};

/// The typical relative difference between runs of the same workload on the same machine
/// (docs/explanation/capacity-model.md). No rate of a run is known more precisely than this.
constexpr double kRunNoise = 0.03;

/// Amdahl's law (1967): the speedup of n cores over one core, if the share s of the work on one
/// core is serial.
constexpr double amdahl_speedup(double s, double n) { return n / (1 + s * (n - 1)); }
/// Gustafson's law (1988): the ratio of the work that n cores and one core do in the same time, if
/// the share s of this time is serial.
constexpr double gustafson_speedup(double s, double n) { return n - s * (n - 1); }

/// A value y that was measured at a number of cores.
struct ScalingPoint {
  double cores = 1, y = 0;
  double error = kRunNoise;  ///< relative standard error
};

/// The model y = y(1) (1 + ratio (N - 1)), fitted by weighted least squares.
struct LineFit {
  double single_core = 0;
  Estimate ratio;  ///< interval by Student's t; for two points from their errors alone
};

/// Returns nullopt if all points have the same N.
std::optional<LineFit> fit_line(std::span<const ScalingPoint> points);

/// Amdahl's law (1967) in core-seconds per image: c(N) = c(1) (1 + s (N - 1)), so that N cores are
/// N / (1 + s (N - 1)) times as fast as one core.
///
/// Runs at few cores hardly determine s: between 1 and 2 cores, 3 % of noise change s by 4
/// percentage points, and thus the rate at 16 cores by 60 %. Therefore a prior is used too: s is
/// about 1.5 %, within a factor of 3.6 in 95 of 100 cases. If runs are precise, or have very
/// different numbers of cores, they dominate the prior.
class CoreCost {
 public:
  /// `points`: core-seconds per image; at least one.
  explicit CoreCost(std::span<const ScalingPoint> points);

  Estimate core_s_per_image(double cores) const;
  /// The serial fraction that predictions use.
  Estimate serial_fraction() const;
  /// Returns false if all runs had the same number of cores. The cost is then constant, and
  /// predictions for more cores are upper bounds.
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
