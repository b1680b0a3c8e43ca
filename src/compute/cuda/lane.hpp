#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/layout/batch_plan.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/slot.hpp"
#include "compute/cuda/solvers/solver.hpp"
#include "compute/cuda/timeline.hpp"
#include "compute/rounds.hpp"

namespace eckart::cuda {

struct LaneOptions {
  int device = 0;
  /// A full batch of planes of this shape, and how it is decomposed.
  std::function<BatchSize(PaddedShape, int rank)> batch_size;
  std::function<SolverKind(const BatchSize&)> choose;
  bool alone = false;  ///< what needs no other solver is not followed by one
  bool deterministic = false;
  bool trace = false;  ///< for take_spans()
  std::function<int(const BatchKind&)> batch_planes;
};

/// A stream of computation with its own cuBLAS and cuSOLVER handles and its workspace, a stream of
/// copies each way, and two slots. The workspace holds one batch; stream order keeps the slots'
/// batches from meeting in it.
class CudaLane : public Lane {
 public:
  explicit CudaLane(LaneOptions options);
  ~CudaLane() override;

  int slots() const override { return int(slots_.size()); }
  void start(int slot, const BatchKind& kind, std::span<Task* const> tasks) override;
  void finish(int slot) override;
  std::vector<DeviceSpan> take_spans() override { return std::exchange(spans_, {}); }

  /// The parts of start() and finish(), for benchmarks. compute() queues what the first solver
  /// does; settle(), after the findings are there, does again what that has not settled and gives
  /// what nobody has. Without `pixels` those of what it does again stay on the device.
  void compute(Slot& slot);
  std::vector<Owner> settle(Slot& slot, bool pixels);
  /// Planes so far that the first solver has not settled.
  int retries() const { return retries_; }
  Slot& slot(int index) { return slots_[std::size_t(index)]; }
  Streams streams() const { return {in_.get(), stream_.get(), out_.get()}; }

 private:
  /// What is settled for one kind of batch: solvers, and how many planes memory is taken for.
  struct Plan {
    SolverKind solver;
    std::size_t first = 0;  ///< of its solvers, the one that whole batches go to
    Places places;
    std::vector<int> ranks;
    int columns;    ///< of subspace iteration
    Rounds rounds;  ///< of whole batches
  };
  Plan& plan(const BatchKind& kind);
  void reserve(std::size_t workspace_bytes);
  void drain() noexcept;
  int places(int planes, int most) const { return options_.deterministic ? most : planes; }
  std::vector<std::unique_ptr<BatchSolver>>& solvers(SolverKind kind);
  Problem problem(PaddedShape shape, const Plan& plan, int places, int rounds) const;
  void queue(Slot& slot, const BatchKind& kind, std::span<Task* const> tasks, int planes,
             const Plan& plan);
  void run(Slot& slot, const Plan& plan, BatchSolver& solver, int capacity, int rounds);
  std::vector<Owner> retry(Slot& slot, Plan& plan, BatchSolver& solver, bool last,
                           std::span<const Owner> unsettled, bool pixels);
  Handles handles() const { return {stream_.get(), blas_.get(), solver_.get()}; }

  const LaneOptions options_;
  Stream stream_, in_, out_;
  Blas blas_;
  Solver solver_;
  DeviceBuffer blas_workspace_, workspace_;
  std::map<SolverKind, std::vector<std::unique_ptr<BatchSolver>>> solvers_;
  std::map<BatchKind, Plan> plans_;
  std::array<Slot, 2> slots_;
  int retries_ = 0;
  DeviceClock clock_;
  std::vector<DeviceSpan> spans_;  // of what is finished and not taken
};

}  // namespace eckart::cuda
