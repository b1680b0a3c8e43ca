#include "bench/experiments/measured_batches.hpp"

#include "text/format_duration.hpp"

namespace eckart::bench {

void MeasuredBatches::add(const std::string& device, const std::string& solver,
                          const ImageBatch& batch, double seconds) {
  if (batch.images == 1 || batch.images < cores_) return;
  seconds_per_image_[{device, solver, batch.n, batch.k}] = seconds / batch.images;
}

std::string MeasuredBatches::reason_to_skip(const std::string& device, const std::string& solver,
                                            const ImageBatch& batch) const {
  const auto found = seconds_per_image_.find({device, solver, batch.n, batch.k});
  if (found == seconds_per_image_.end()) return {};
  const double seconds = found->second * batch.images;
  if (seconds < 2 * max_call_s_) return {};
  return "would take about " + text::format_duration(seconds);
}

}  // namespace eckart::bench
