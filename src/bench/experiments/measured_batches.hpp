#pragma once

#include <map>
#include <string>
#include <tuple>

#include "bench/experiments/backend_batch.hpp"

namespace eckart::bench {

/// The times of batches, from which those of larger batches follow: so batches that take too long
/// need not be tried.
class MeasuredBatches {
 public:
  /// `max_call_s`: longer calls are not measured.
  explicit MeasuredBatches(double max_call_s) : max_call_s_(max_call_s) {}
  void add(const std::string& device, const std::string& solver, const ImageBatch& batch,
           double seconds);
  /// Why this batch is not tried: in proportion to a batch of several images of its size and rank,
  /// it takes at least twice as long as a call may. Empty if it may be faster.
  std::string too_slow(const std::string& device, const std::string& solver,
                       const ImageBatch& batch) const;

 private:
  double max_call_s_;
  std::map<std::tuple<std::string, std::string, int, int>, double> seconds_per_image_;
};

}  // namespace eckart::bench
