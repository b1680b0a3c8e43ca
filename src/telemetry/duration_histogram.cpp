#include "telemetry/duration_histogram.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace eckart::telemetry {
namespace {

constexpr int kSteps = 32;     // buckets per power of two
constexpr int kUnitShift = 9;  // a unit is 512 ns

/// The first 64 buckets are one unit wide, the next 32 two units, the next 32 four, and so on.
std::size_t bucket_of(std::int64_t ns) {
  const auto units = std::uint64_t(std::max<std::int64_t>(0, ns)) >> kUnitShift;
  if (units < kSteps) return std::size_t(units);
  const int power = std::bit_width(units) - std::bit_width(unsigned(kSteps));
  const std::size_t bucket =
      std::size_t(power + 1) * kSteps + std::size_t((units >> power) - kSteps);
  return std::min(bucket, DurationRecorder::kBuckets - 1);
}

/// The lower limit of a bucket, which is the upper limit of the bucket before it.
double bucket_start_s(std::size_t bucket) {
  const std::size_t power = bucket < kSteps ? 0 : bucket / kSteps - 1;
  const std::size_t units = bucket < kSteps ? bucket : kSteps + bucket % kSteps;
  return std::ldexp(double(units), int(power) + kUnitShift) * 1e-9;
}

}  // namespace

double DurationHistogram::mean_s() const {
  return count_ > 0 ? sum_s_ / double(count_) : std::numeric_limits<double>::quiet_NaN();
}

double DurationHistogram::quantile_s(double q) const {
  if (count_ <= 0) return std::numeric_limits<double>::quiet_NaN();
  const double target_count = std::clamp(q, 0.0, 1.0) * double(count_);
  double cumulative_count = 0;
  std::size_t last = 0;
  for (std::size_t bucket = 0; bucket < counts_.size(); ++bucket) {
    if (counts_[bucket] <= 0) continue;
    last = bucket;
    const auto bucket_count = double(counts_[bucket]);
    if (cumulative_count + bucket_count >= target_count) {
      const double share = std::max(0.0, target_count - cumulative_count) / bucket_count;
      return bucket_start_s(bucket) + share * (bucket_start_s(bucket + 1) - bucket_start_s(bucket));
    }
    cumulative_count += bucket_count;
  }
  return bucket_start_s(last + 1);
}

std::int64_t DurationHistogram::count_up_to(double seconds) const {
  std::int64_t count = 0;
  for (std::size_t bucket = 0;
       bucket < counts_.size() && bucket_start_s(bucket + 1) <= seconds * (1 + 1e-9); ++bucket)
    count += counts_[bucket];
  return count;
}

DurationHistogram DurationHistogram::since(const DurationHistogram& earlier) const {
  DurationHistogram difference = *this;
  for (std::size_t bucket = 0; bucket < earlier.counts_.size(); ++bucket)
    difference.counts_[bucket] -= earlier.counts_[bucket];
  difference.count_ -= earlier.count_;
  difference.sum_s_ -= earlier.sum_s_;
  return difference;
}

void DurationRecorder::add(std::chrono::nanoseconds length, std::int64_t count) {
  const std::int64_t ns = std::max<std::int64_t>(0, length.count());
  counts_[bucket_of(ns)].fetch_add(count, std::memory_order_relaxed);
  sum_ns_.fetch_add(ns * count, std::memory_order_relaxed);
}

DurationHistogram DurationRecorder::read() const {
  DurationHistogram durations;
  durations.counts_.resize(kBuckets);
  for (std::size_t bucket = 0; bucket < kBuckets; ++bucket) {
    durations.counts_[bucket] = counts_[bucket].load(std::memory_order_relaxed);
    durations.count_ += durations.counts_[bucket];
  }
  durations.sum_s_ = 1e-9 * double(sum_ns_.load(std::memory_order_relaxed));
  return durations;
}

}  // namespace eckart::telemetry
