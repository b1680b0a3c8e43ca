#include "compute/cuda/plan/batch_capacity.hpp"

#include <algorithm>
#include <climits>

#include "compute/cuda/layout/triplets.hpp"

namespace eckart::compute::cuda {
namespace {

// With several lanes, copies in both directions and computation of another lane continue while one
// lane waits. kMinLaneBytes is the memory of a full batch of small planes; GPUs with less memory
// get fewer lanes. Two more lanes make small parts faster, but must leave memory for large images.
constexpr int kLanesPerDevice = 4, kMaxLanesPerDevice = 6;
constexpr double kMinLaneBytes = 2.0 * (1 << 30), kMinLargeLaneBytes = 10.0 * (1 << 30);
// A batch has about this many elements of Gram matrices, which is enough for the largest GPU.
constexpr std::int64_t kTargetBatchElements = std::int64_t(1) << 26;
constexpr int kMaxBatchPlanes = 512;
constexpr std::int64_t kMaxGridDepth = 65535;  // grid.z of a kernel has one layer per plane
constexpr int kMinBatchPlanes = 4;

// Few planes are uncertified: memory is reserved to recompute this fraction of a batch at a time.
constexpr int kRecomputeDivisor = 8;
// A block of an adaptive plan computes many planes: this many times as many.
constexpr int kBlockFactor = 4;
// A batch of at most this fraction of a full one is small.
constexpr int kSmallBatchDivisor = 32;

}  // namespace

double plane_bytes(const BatchWorkload& batch, SolverKind solver, std::size_t outputs,
                   bool has_float_samples, int factor_rank) {
  const double m = batch.shape.rows, n = batch.shape.cols, l = batch.columns;
  const double gram = 8 * (2 * m * n + 6 * n * n), slots = 2 * (has_float_samples ? 4 : 2) * m * n;
  const double iteration = batch.is_float64 ? 8 * (m * n + (3 * m + 2 * n) * l + 5 * l * l)
                                            : 4 * m * n + 24 * (m + n) * l + 20 * l * l;
  return (solver == SolverKind::subspace ? iteration + gram / 8 : gram) +
         slots * double(1 + outputs) +
         2 * double(TripletLayout{batch.shape.rows, batch.shape.cols, factor_rank}.plane_bytes());
}

std::int64_t target_batch_planes(PaddedShape shape, int requested) {
  const std::int64_t gram = std::int64_t(shape.cols) * shape.cols;
  const std::int64_t planes =
      requested > 0
          ? requested
          : std::clamp<std::int64_t>(kTargetBatchElements / gram, kMinBatchPlanes, kMaxBatchPlanes);
  // INT32_MAX: limit of the batched eigensolver
  return std::min({planes, INT32_MAX / gram, kMaxGridDepth});
}

int limit_planes_to_memory(std::int64_t target_planes, double bytes, double bytes_per_plane) {
  return int(
      std::max<std::int64_t>(std::min(target_planes, std::int64_t(bytes / bytes_per_plane)), 1));
}

int lane_count(double device_bytes, int devices, int requested) {
  if (requested > 0) return requested;
  const int lanes = std::clamp(int(device_bytes / kMinLaneBytes), 1, kLanesPerDevice);
  const int large_lanes = std::min(int(device_bytes / kMinLargeLaneBytes), kMaxLanesPerDevice);
  return devices * std::max(lanes, large_lanes);
}

double bytes_per_lane(double device_bytes, int devices, int lanes) {
  const int lanes_per_device = (lanes + devices - 1) / devices;
  return device_bytes / lanes_per_device;
}

BatchCapacity BatchCapacity::for_full_batch(int batch_planes) {
  const int full = std::max(kMaxImagePlanes, batch_planes);
  return {.full = full, .recompute = std::max(kMaxImagePlanes, full / kRecomputeDivisor)};
}

void BatchCapacity::grow_for(int planes, bool is_deterministic) {
  if (planes <= current) return;
  const int small = std::max(kMaxImagePlanes, full / kSmallBatchDivisor);
  const bool is_small = planes <= small && !is_deterministic;
  current = is_small ? small : std::max(full, planes);
}

int BatchCapacity::block() const {
  if (recompute == 1) return 1;  // out of memory again and again
  // A batch in flight may have been packed for `full` planes, before `current` grew.
  return std::min({current, full, kBlockFactor * recompute});
}

bool BatchCapacity::shrink(int planes) {
  const bool is_minimum = current == planes;
  current = std::max(is_minimum ? 1 : planes, current / 2);
  full = current;
  recompute = std::min(recompute, current);  // the slot's memory is limited to `current`
  return !is_minimum;
}

bool BatchCapacity::shrink_recompute() {
  if (recompute == 1) return false;
  recompute /= 2;
  return true;
}

}  // namespace eckart::compute::cuda
