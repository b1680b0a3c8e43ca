#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/plan/batch_plan.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/slot.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"

namespace eckart::compute::cuda {

/// The GPU resources of a lane: one stream for computation with its own cuBLAS and cuSOLVER
/// handles, one stream for copies out, the solvers, and a workspace for one batch.
/// Batches of different slots use the workspace in stream order. All work is asynchronous; a call
/// waits only if memory must grow. Single-threaded, like its lane. Throws as check() does.
class BatchExecutor {
 public:
  /// Sets the current device of the calling thread.
  BatchExecutor(int device, bool is_traced);

  /// Queues a whole batch of `planes` planes: copy in, compute(), copy out. Reserves memory for
  /// plan.capacity.current planes.
  void enqueue(Slot& slot, const BatchKey& key, std::span<Task* const> tasks, int planes,
               const BatchPlan& plan);
  /// Queues the first stage of the plan on the planes that the slot has packed.
  void compute(Slot& slot, const BatchPlan& plan);
  /// Queues another stage of the plan on `planes`, which must be planes that the slot has packed.
  /// Reserves memory for plan.max_recompute_planes() planes.
  void recompute(Slot& slot, std::span<const TaskPlane> planes, std::size_t stage, int iterations,
                 const BatchPlan& plan);

  /// Waits until no queued computation or copy out uses the lane's memory. Ignores errors.
  void drain() noexcept;
  /// Frees the workspace; the next batch allocates it again. Call drain() first.
  void free_workspace() { workspace_ = {}; }

  Streams streams() const { return {compute_stream_.get(), copy_out_stream_.get()}; }

 private:
  void run(Slot& slot, const BatchPlan& plan, std::size_t stage, int capacity, int iterations);
  BatchSolver& solver(SolverStep step);
  void reserve_workspace(std::size_t bytes);
  Handles handles() const {
    return {compute_stream_.get(), blas_handle_.get(), solver_handle_.get()};
  }

  Stream compute_stream_, copy_out_stream_;
  BlasHandle blas_handle_;
  SolverHandle solver_handle_;
  DeviceBuffer blas_workspace_, workspace_;
  std::map<SolverStep, std::unique_ptr<BatchSolver>> solvers_;
  DeviceClock clock_;
};

}  // namespace eckart::compute::cuda
