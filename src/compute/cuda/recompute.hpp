#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cuda/batch_executor.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/cuda/slot.hpp"

namespace eckart::cuda {

/// Computes these planes of the slot's batch again with this solver of the plan, and returns those
/// that are still uncertified. Works in parts of plan.max_recompute_planes(), each finished before
/// the next; where memory runs out, parts halve. Throws OutOfMemory where there is none for a
/// single plane. Without `copy_pixels` the pixels stay on the device.
std::vector<TaskPlane> recompute(BatchExecutor& executor, BatchPlan& plan, Slot& slot,
                                 std::size_t solver, std::span<const TaskPlane> uncertified,
                                 bool copy_pixels);

}  // namespace eckart::cuda
