#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/plan/batch_capacity.hpp"
#include "compute/cuda/plan/iteration_tuner.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/slot.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"

namespace eckart::cuda {

struct LaneOptions {
  int device = 0;
  /// A full batch of planes of this shape, and how it is decomposed.
  std::function<BatchWorkload(PaddedShape, int rank)> batch_size;
  std::function<SolverKind(const BatchWorkload&)> choose;
  bool is_single_solver = false;  ///< what needs no other solver is not followed by one
  bool deterministic = false;
  bool trace = false;  ///< for take_spans()
  std::function<int(const BatchKey&)> batch_planes;
};

/// A stream of computation with its own cuBLAS and cuSOLVER handles and its workspace, a stream of
/// copies each way, and two slots. The workspace holds one batch; stream order keeps the slots'
/// batches from meeting in it.
class CudaLane : public Lane {
 public:
  explicit CudaLane(LaneOptions options);
  ~CudaLane() override;

  int slots() const override { return int(slots_.size()); }
  void start(int slot, const BatchKey& kind, std::span<Task* const> tasks) override;
  void finish(int slot) override;
  std::vector<DeviceSpan> take_spans() override { return std::exchange(spans_, {}); }

  /// The parts of start() and finish(), for benchmarks. compute() queues what the first solver
  /// does; settle(), after the findings are there, does again what that has not settled and gives
  /// what nobody has. Without `pixels` those of what it does again stay on the device.
  void compute(Slot& slot);
  std::vector<TaskPlane> recompute_uncertified(Slot& slot, bool copy_pixels);
  /// Planes so far that the first solver has not settled.
  int planes_recomputed() const { return planes_recomputed_; }
  Slot& slot(int index) { return slots_[std::size_t(index)]; }
  Streams streams() const {
    return {copy_in_stream_.get(), compute_stream_.get(), copy_out_stream_.get()};
  }

 private:
  /// What is settled for one kind of batch: solvers, and how many planes memory is taken for.
  struct SolvePlan {
    SolverKind solver;
    std::size_t first_solver = 0;  ///< of its solvers, the one that whole batches go to
    BatchCapacity capacity;
    std::vector<int> ranks;
    int columns;           ///< of subspace iteration
    IterationTuner tuner;  ///< of whole batches
  };
  SolvePlan& plan(const BatchKey& kind);
  void reserve(std::size_t workspace_bytes);
  void drain() noexcept;
  int padded_planes(int planes, int max_planes) const {
    return options_.deterministic ? max_planes : planes;
  }
  std::vector<std::unique_ptr<BatchSolver>>& solvers(SolverKind kind);
  Problem problem(PaddedShape shape, const SolvePlan& plan, int padded_planes,
                  int iterations) const;
  void enqueue(Slot& slot, const BatchKey& kind, std::span<Task* const> tasks, int planes,
               const SolvePlan& plan);
  void run(Slot& slot, const SolvePlan& plan, BatchSolver& solver, int capacity, int iterations);
  std::vector<TaskPlane> recompute(Slot& slot, SolvePlan& plan, BatchSolver& solver, bool last,
                                   std::span<const TaskPlane> uncertified, bool copy_pixels);
  Handles handles() const {
    return {compute_stream_.get(), blas_handle_.get(), solver_handle_.get()};
  }

  const LaneOptions options_;
  Stream compute_stream_, copy_in_stream_, copy_out_stream_;
  BlasHandle blas_handle_;
  SolverHandle solver_handle_;
  DeviceBuffer blas_workspace_, workspace_;
  std::map<SolverKind, std::vector<std::unique_ptr<BatchSolver>>> solvers_;
  std::map<BatchKey, SolvePlan> plans_;
  std::array<Slot, 2> slots_;
  int planes_recomputed_ = 0;
  DeviceClock clock_;
  std::vector<DeviceSpan> spans_;  // of what is finished and not taken
};

}  // namespace eckart::cuda
