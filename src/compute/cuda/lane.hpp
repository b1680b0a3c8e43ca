#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "compute/backend.hpp"
#include "compute/cuda/raii.hpp"
#include "compute/cuda/slot.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::cuda {

struct LaneOptions {
  int device = 0;
  SolverKind solver = SolverKind::automatic;
  bool deterministic = false;
  std::vector<RankPolicy> ranks;
  std::function<int(PaddedShape)> batch_planes;
};

/// One stream with its own cuBLAS and cuSOLVER handles, its workspace, and two slots. The workspace
/// holds one batch; stream order keeps the slots' batches from meeting in it.
class CudaLane : public Lane {
 public:
  explicit CudaLane(LaneOptions options);
  ~CudaLane() override;

  int slots() const override { return int(slots_.size()); }
  void start(int slot, PaddedShape shape, std::span<Task* const> tasks) override;
  void finish(int slot) override;

  /// For benchmarks of the device alone: all that a batch takes between the copies, on what
  /// slot().pack() has laid out. Returns when it is done; the results stay on the device.
  void compute(Slot& slot);
  /// Planes so far that the first solver has not settled.
  int retries() const { return retries_; }
  Slot& slot(int index) { return slots_[std::size_t(index)]; }
  cudaStream_t stream() const { return stream_.get(); }

 private:
  /// What is settled for one padded shape: solvers, and memory for up to `places` planes.
  struct Plan {
    SolverKind solver;
    int places;
    int rank;  ///< the largest that is asked for
    std::size_t workspace_bytes;
  };
  const Plan& plan(PaddedShape shape);
  void reserve(PaddedShape shape, const Plan& plan);
  int places(int planes, const Plan& plan) const;
  Spectrum run(Slot& slot, const Plan& plan, BatchSolver& solver);
  Factors project(PaddedShape shape, int places, int rank, const Spectrum& spectrum);
  std::vector<std::unique_ptr<BatchSolver>>& solvers(SolverKind kind);
  Handles handles() const { return {stream_.get(), blas_.get(), solver_.get()}; }

  const LaneOptions options_;
  Stream stream_;
  const int most_subspace_columns_;
  Blas blas_;
  Solver solver_;
  DeviceBuffer blas_workspace_;
  DeviceBuffer a_t_nm_, v_, p_mk_, workspace_;
  std::map<SolverKind, std::vector<std::unique_ptr<BatchSolver>>> solvers_;
  std::map<PaddedShape, Plan> plans_;
  std::array<Slot, 2> slots_;
  int retries_ = 0;
};

}  // namespace eckart::cuda
