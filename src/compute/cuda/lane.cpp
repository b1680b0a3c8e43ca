#include "compute/cuda/lane.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/recompute.hpp"
#include "compute/out_of_memory.hpp"

namespace eckart::compute::cuda {
namespace {

int count_planes(std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  return planes;
}

/// Sets the error of the tasks that these planes belong to.
void mark_failed(const std::vector<TaskPlane>& task_planes) {
  for (const TaskPlane& task_plane : task_planes) {
    task_plane.task->error =
        "channel " + std::to_string(task_plane.channel) + ": the solver did not converge";
  }
}

/// The largest rank of all outputs, for each plane.
std::vector<int> largest_ranks(const std::vector<TaskPlane>& task_planes) {
  std::vector<int> ranks;
  for (const TaskPlane& task_plane : task_planes) {
    int largest = 0;
    for (const auto& planes : task_plane.task->results)
      largest = std::max(largest, planes[std::size_t(task_plane.channel)].rank);
    ranks.push_back(largest);
  }
  return ranks;
}

}  // namespace

CudaLane::CudaLane(const BatchPlanner& planner, DecodingRates& decoding_rates, int device,
                   bool is_traced)
    : executor_(device, is_traced), plans_(planner), decoding_rates_(decoding_rates) {}

CudaLane::~CudaLane() { drain(); }

/// Waits until no queued work uses the lane's memory.
void CudaLane::drain() noexcept {
  for (const Slot& slot : slots_) slot.drain();
  executor_.drain();
}

void CudaLane::start(int index, const BatchKey& key, std::span<Task* const> tasks) {
  const int planes = count_planes(tasks);
  const ProfilerRange range("start", key.shape, planes);
  BatchPlan& plan = current_plan(key);
  plan.capacity.grow_for(planes, plan.is_deterministic);
  Slot& slot = this->slot(index);
  for (;;) {  // with memory for a full batch, then for less, at last for this batch alone
    try {
      return executor_.enqueue(slot, key, tasks, planes, plan);
    } catch (const OutOfMemory&) {
      drain();
      slot.free_memory();
      executor_.free_workspace();
      if (!plan.capacity.shrink(planes)) throw;
    } catch (...) {
      drain();
      throw;
    }
  }
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  const ProfilerRange range("finish", slot.key().shape, int(slot.task_planes().size()));
  try {
    if (!compute_undecodable(index)) return;
    mark_failed(recompute_uncertified(slot, true));
    slot.copy_out_missing_pixels(executor_.streams());
    slot.copy_to_outputs();
    const std::vector<DeviceSpan> spans = slot.timeline().read();
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  } catch (...) {
    drain();
    throw;
  }
}

/// If the CPU has to decode inputs, does that, and queues the batch again without those that are
/// corrupt. Returns false if no image is left.
bool CudaLane::compute_undecodable(int index) {
  Slot& slot = this->slot(index);
  if (!slot.has_encoded_inputs()) return true;
  slot.wait();
  const std::vector<Task*> undecodable = slot.undecodable();
  if (undecodable.empty()) {
    slot.add_decoding_times(decoding_rates_);
    return true;
  }
  for (Task* task : undecodable) static_cast<void>(try_decode_input(*task));
  std::vector<Task*> tasks = slot.tasks();
  std::erase_if(tasks, [](const Task* task) { return !task->error.empty(); });
  if (tasks.empty()) return false;
  const BatchKey key = slot.key();
  start(index, key, tasks);
  return true;
}

void CudaLane::compute(Slot& slot) { executor_.compute(slot, current_plan(slot.key())); }

std::vector<TaskPlane> CudaLane::recompute_uncertified(Slot& slot, bool copy_pixels) {
  BatchPlan& plan = plans_.at(slot.key());
  slot.wait();
  const std::vector<TaskPlane> all(slot.task_planes().begin(), slot.task_planes().end());
  BatchCertification certification = slot.certify(plan.certificate, plan.stages.size() == 1);
  std::vector<TaskPlane> uncertified = std::move(certification.uncertified);
  planes_recomputed_ += int(uncertified.size());
  if (slot.plan_revision() == plan.revision)
    plan.record_result(plan.first_stage, slot.iterations(), certification.iteration_losses_db);
  for (std::size_t stage = plan.first_recompute_stage(slot.iterations(), slot.plan_revision());
       stage < plan.stages.size(); ++stage) {
    const auto later = std::stable_partition(
        uncertified.begin(), uncertified.end(),
        [&](const TaskPlane& plane) { return plan.suits(stage, plane.needs); });
    std::vector<TaskPlane> rest(later, uncertified.end());
    uncertified.erase(later, uncertified.end());
    uncertified = recompute(executor_, plan, slot, stage, uncertified, copy_pixels);
    uncertified.insert(uncertified.end(), rest.begin(), rest.end());
  }
  if (plan.is_adaptive) plan.record_ranks(largest_ranks(all));
  return uncertified;
}

BatchPlan& CudaLane::current_plan(const BatchKey& key) {
  return plans_.get_or_make(key, [this](const BatchKey& other) { return is_in_flight(other); });
}

bool CudaLane::is_in_flight(const BatchKey& key) const {
  return std::any_of(slots_.begin(), slots_.end(),
                     [&](const Slot& slot) { return slot.key() == key; });
}

}  // namespace eckart::compute::cuda
