#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compute/cuda/batch_executor.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/cuda/slot.hpp"

namespace eckart::compute::cuda {

/// Recomputes `uncertified` planes of the slot's batch with this solver of the plan. Returns those
/// that are still uncertified. Processes parts of plan.max_recompute_planes() planes, one after
/// another. If memory runs out, it halves the parts; throws OutOfMemory if there is no memory for a
/// single plane. Otherwise throws as check() does. Without `copy_pixels` the pixels stay on the
/// device.
std::vector<TaskPlane> recompute(BatchExecutor& executor, BatchPlan& plan, Slot& slot,
                                 std::size_t stage, std::span<const TaskPlane> uncertified,
                                 bool copy_pixels);

}  // namespace eckart::compute::cuda
