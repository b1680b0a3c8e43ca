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
  MeasuredBatches(double max_call_s, int cores) : max_call_s_(max_call_s), cores_(cores) {}
  /// Fewer images than cores say nothing: more of them may take as long.
  void add(const std::string& device, const std::string& solver, const ImageBatch& batch,
           double seconds);
  /// Why this batch need not be tried: in proportion to a smaller batch of images of its size, at
  /// its rank, it takes at least twice as long as a call may. Empty if it may be faster.
  std::string reason_to_skip(const std::string& device, const std::string& solver,
                             const ImageBatch& batch) const;

 private:
  double max_call_s_;
  int cores_;
  std::map<std::tuple<std::string, std::string, int, int>, double> seconds_per_image_;
};

}  // namespace eckart::bench
