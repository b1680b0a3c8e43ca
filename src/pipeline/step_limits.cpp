#include "pipeline/step_limits.hpp"

namespace eckart::pipeline {
namespace {

constexpr double kMinBytesPerS = 5e6;  // a slow disk or network share, or a slow encoder
constexpr double kMinFlopsPerS = 1e9;  // about a tenth of the rate of an old core
// LAPACK's gesvd of an m x n matrix with both sets of vectors takes about kDecompositionFlopFactor
// * m n^2 operations.
constexpr double kDecompositionFlopFactor = 40;

StepLimits::Duration duration(double time_s) {
  return std::chrono::duration_cast<StepLimits::Duration>(std::chrono::duration<double>(time_s));
}

StepLimits::Duration transfer_time(double bytes) { return duration(bytes / kMinBytesPerS); }

}  // namespace

StepLimits::Duration StepLimits::load(const WorkItem& item) const {
  constexpr double kReads = 3;  // a file may be hashed, compared and then decoded
  return stall + decode + transfer_time(kReads * double(item.file_state.size));
}

StepLimits::Duration StepLimits::write(const WorkItem& item) const {
  const double outputs = double(item.task.outputs.size());
  return stall + transfer_time(outputs * double(item.image_shape.bytes()));
}

StepLimits::Duration StepLimits::publish(const WorkItem& item) const {
  double bytes = double(item.file_state.size);
  for (const std::int64_t output : item.output_bytes) bytes += double(output);
  return transfer_time(bytes);
}

StepLimits::Duration StepLimits::compute(const Batch& batch) const {
  const double m = batch.key.shape.rows, n = batch.key.shape.cols;
  return stall + duration(batch.planes * kDecompositionFlopFactor * m * n * n / kMinFlopsPerS);
}

}  // namespace eckart::pipeline
