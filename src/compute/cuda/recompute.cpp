#include "compute/cuda/recompute.hpp"

#include <algorithm>

#include "compute/cuda/profiler_range.hpp"
#include "compute/out_of_memory.hpp"

namespace eckart::compute::cuda {
namespace {

void mark_recomputed(std::span<const TaskPlane> task_planes) {
  for (const TaskPlane& task_plane : task_planes) {
    for (auto& planes : task_plane.task->results)
      planes[std::size_t(task_plane.channel)].is_recomputed = true;
  }
}

/// The first planes, at most `max_planes`. Whole images if ranks are chosen for images: then at
/// least one.
std::span<const TaskPlane> first_part(std::span<const TaskPlane> planes, int max_planes,
                                      bool has_whole_images) {
  auto count = std::min(std::size_t(max_planes), planes.size());
  if (has_whole_images && count < planes.size()) {
    const auto ends_image = [&](std::size_t end) {
      return planes[end - 1].task != planes[end].task;
    };
    while (count > 1 && !ends_image(count)) --count;
    while (count < planes.size() && !ends_image(count)) ++count;
  }
  return planes.first(count);
}

}  // namespace

std::vector<TaskPlane> recompute(BatchExecutor& executor, BatchPlan& plan, Slot& slot,
                                 std::size_t stage, std::span<const TaskPlane> uncertified,
                                 bool copy_pixels) {
  std::vector<TaskPlane> still_uncertified;
  slot.timeline().begin_recompute();
  while (!uncertified.empty()) {
    const auto part = first_part(uncertified, plan.max_recompute_planes(stage), plan.is_adaptive);
    const bool has_unconverged =
        std::ranges::any_of(part, [](const TaskPlane& plane) { return !plane.needs.is_float64; });
    const int iterations = plan.recompute_iterations(stage, has_unconverged);
    const ProfilerRange range("recompute", plan.shape, int(part.size()));
    try {
      executor.recompute(slot, part, stage, iterations, plan);
    } catch (const OutOfMemory&) {
      executor.drain();
      executor.free_workspace();
      if (!plan.capacity.shrink_recompute()) throw;
      continue;
    }
    if (copy_pixels) slot.copy_out_selected_pixels(executor.streams());
    slot.wait();
    const BatchCertification certification = slot.certify(plan.certificate, plan.is_last(stage));
    if (stage != plan.first_stage)
      plan.record_result(stage, iterations, certification.iteration_losses_db);
    if (!plan.is_block(stage) || plan.stages[stage].is_retry) mark_recomputed(part);
    still_uncertified.insert(still_uncertified.end(), certification.uncertified.begin(),
                             certification.uncertified.end());
    uncertified = uncertified.subspan(part.size());
  }
  return still_uncertified;
}

}  // namespace eckart::compute::cuda
