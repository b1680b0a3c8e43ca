#pragma once

#include <vector>

namespace eckart::bench {

/// A number that was measured several times: the median, and a confidence interval of the median.
struct Estimate {
  double median = 0;
  double low = 0, high = 0;  ///< contain the median of all possible samples with 95 % confidence
  int samples = 0;
  double resolution = 0;  ///< of the clock; the interval is that much longer on each side

  /// The larger distance of the median from the ends of the interval, divided by the median.
  double relative_error() const;
  /// The same, without what the resolution of the clock adds.
  double relative_noise() const;
  /// The same numbers, measured with a clock of this resolution.
  Estimate with_resolution(double clock_resolution) const;
  bool overlaps(const Estimate& other) const { return low <= other.high && other.low <= high; }
};

/// The fewest samples whose smallest and largest contain the median with 95 % confidence.
inline constexpr int kMinSamples = 6;

/// From the order statistics of the samples, without an assumption about their distribution (David
/// and Nagaraja, Order Statistics, 2003, section 7.1). With fewer than kMinSamples samples, the
/// interval is from the smallest to the largest, with less confidence. All is 0 without samples.
Estimate estimate(std::vector<double> samples);

/// The samples of the same time, measured in several passes: in the order of time, pass by pass.
using Passes = std::vector<std::vector<double>>;

/// From all samples. Its interval also contains the median of each pass and, from three passes on,
/// Student's t interval of these medians: passes may differ more than the samples of one, because
/// memory is at another place or a clock has changed. That one is of logarithms, because numbers
/// are positive and so are their ratios. Fewer passes give less confidence.
Estimate estimate(const Passes& passes);

/// The rate of `amount` in a time: amount / seconds. Its interval has no end if that of the time
/// begins at 0.
Estimate rate(double amount, const Estimate& seconds);

/// The ratio of samples that were measured at the same time: the estimate of a[i] / b[i], pass by
/// pass. Samples without a counterpart are left out.
Estimate ratio(const Passes& a, const Passes& b);

}  // namespace eckart::bench
