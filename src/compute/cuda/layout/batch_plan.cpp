#include "compute/cuda/layout/batch_plan.hpp"

#include <algorithm>
#include <climits>

namespace eckart::cuda {
namespace {

// So that copies both ways and another lane's computation go on while one waits; fewer where a lane
// would not have the memory that a full batch of small planes takes.
constexpr int kMostLanesPerDevice = 4;
constexpr double kLaneBytes = 2.0 * (1 << 30);
// A batch gathers about this many elements of Gram matrices: enough to fill the largest GPU.
constexpr std::int64_t kBatchElements = std::int64_t(1) << 26;
constexpr int kMostPlanes = 512;
constexpr std::int64_t kGridLimit = 65535;  // a kernel's grid has a layer a plane
constexpr int kFewestPlanes = 4;

// What the first solver leaves is little: memory for this share of a batch at a time.
constexpr int kRetryShare = 8;
// A batch of this share of a full one is small.
constexpr int kSmallShare = 32;

}  // namespace

double plane_bytes(const BatchSize& batch, SolverKind solver, std::size_t outputs) {
  const double m = batch.shape.rows, n = batch.shape.cols, l = batch.columns;
  const double gram = 8 * (2 * m * n + 6 * n * n), slots = 2 * 2 * m * n;
  const double iteration = batch.float64 ? 8 * (m * n + (3 * m + 2 * n) * l + 5 * l * l)
                                         : 4 * m * n + 24 * (m + n) * l + 20 * l * l;
  return (solver == SolverKind::subspace ? iteration + gram / 8 : gram) +
         slots * double(1 + outputs);
}

std::int64_t planes_wanted(PaddedShape shape, int asked) {
  const std::int64_t gram = std::int64_t(shape.cols) * shape.cols;
  const std::int64_t planes =
      asked > 0 ? asked
                : std::clamp<std::int64_t>(kBatchElements / gram, kFewestPlanes, kMostPlanes);
  return std::min({planes, INT32_MAX / gram, kGridLimit});  // the batched eigensolver's limit
}

int planes_that_fit(std::int64_t wanted, double bytes, double bytes_per_plane) {
  return int(std::max<std::int64_t>(std::min(wanted, std::int64_t(bytes / bytes_per_plane)), 1));
}

int lanes_for(double device_bytes, int devices, int asked) {
  return asked > 0 ? asked
                   : devices * std::clamp(int(device_bytes / kLaneBytes), 1, kMostLanesPerDevice);
}

double bytes_per_lane(double device_bytes, int devices, int lanes) {
  return device_bytes / ((lanes + devices - 1) / devices);
}

Places Places::of(int batch_planes) {
  const int full = std::max(kMostChannels, batch_planes);
  return {.full = full, .retry = std::max(kMostChannels, full / kRetryShare)};
}

void Places::make(int planes, bool is_deterministic) {
  if (planes <= now) return;
  const int small = std::max(kMostChannels, full / kSmallShare);
  const bool is_small = planes <= small && !is_deterministic;
  now = is_small ? small : std::max(full, planes);
}

bool Places::shrink(int planes) {
  const bool this_batch_alone = now == planes;
  now = std::max(this_batch_alone ? 1 : planes, now / 2);
  full = now;
  retry = std::min(retry, now);  // the slot has no more
  return !this_batch_alone;
}

}  // namespace eckart::cuda
