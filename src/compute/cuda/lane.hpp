#pragma once

#include <array>
#include <span>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/batch_executor.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/cuda/plan/batch_planner.hpp"
#include "compute/cuda/plan/decoding_rates.hpp"
#include "compute/cuda/slot.hpp"

namespace eckart::compute::cuda {

/// A lane of the CUDA backend. It consists of plans (how to compute a batch), an executor (streams
/// and solvers), recompute() (for uncertified planes) and two slots (the batches in flight).
/// docs/explanation/gpu-batch.md follows a batch through them.
class CudaLane : public Lane {
 public:
  /// The planner and the rates must outlive the lane.
  CudaLane(const BatchPlanner& planner, DecodingRates& decoding_rates, int device, bool is_traced);
  ~CudaLane() override;

  int slots() const override { return int(slots_.size()); }
  void start(int slot, const BatchKey& key, std::span<Task* const> tasks) override;
  void finish(int slot) override;
  std::vector<DeviceSpan> take_spans() override { return std::exchange(spans_, {}); }

  /// The parts of start() and finish(), for benchmarks. compute() queues the first solver.
  /// recompute_uncertified() waits for it, recomputes the planes that it left uncertified, and
  /// returns those that no solver certified. Without `copy_pixels` the recomputed pixels stay on
  /// the device.
  void compute(Slot& slot);
  std::vector<TaskPlane> recompute_uncertified(Slot& slot, bool copy_pixels);
  /// The number of planes that the first solver has left uncertified so far.
  int planes_recomputed() const { return planes_recomputed_; }
  Slot& slot(int index) { return slots_[std::size_t(index)]; }
  Streams streams() const { return executor_.streams(); }

 private:
  void drain() noexcept;
  bool compute_undecodable(int index);
  BatchPlan& current_plan(const BatchKey& key);
  bool is_in_flight(const BatchKey& key) const;

  BatchExecutor executor_;
  BatchPlanCache plans_;
  DecodingRates& decoding_rates_;
  std::array<Slot, 2> slots_;
  int planes_recomputed_ = 0;
  std::vector<DeviceSpan> spans_;  // of finished batches; emptied by take_spans()
};

}  // namespace eckart::compute::cuda
