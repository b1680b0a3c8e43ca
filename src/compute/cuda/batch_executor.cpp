#include "compute/cuda/batch_executor.hpp"

#include <algorithm>

namespace eckart::compute::cuda {
namespace {

// cuBLAS's recommendation for Hopper
constexpr std::size_t kBlasWorkspaceBytes = std::size_t(32) << 20;

Stream make_stream() {
  return ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
}

/// All parts of a lane are created on its device. The calling thread keeps this current device.
Stream make_first_stream(int device) {
  ECKART_CUDA_CHECK(cudaSetDevice(device));
  return make_stream();
}

}  // namespace

BatchExecutor::BatchExecutor(int device, bool is_traced)
    : compute_stream_(make_first_stream(device)),
      copy_out_stream_(make_stream()),
      blas_handle_(ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2)),
      solver_handle_(ECKART_CUDA_HANDLE(SolverHandle, cusolverDnCreate)),
      clock_(is_traced) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_handle_.get(), compute_stream_.get()));
  ECKART_CUDA_CHECK(
      cublasSetWorkspace(blas_handle_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_handle_.get(), compute_stream_.get()));
  ECKART_CUDA_CHECK(
      cusolverDnSetDeterministicMode(solver_handle_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

void BatchExecutor::enqueue(Slot& slot, const BatchKey& key, std::span<Task* const> tasks,
                            int planes, const BatchPlan& plan) {
  const int capacity = plan.capacity.current;
  slot.timeline().restart(clock_.sync_point());
  slot.pack(key, tasks, plan.padded_planes(planes, capacity), capacity, streams());
  compute(slot, plan);
  slot.copy_out_outputs(streams());
}

void BatchExecutor::compute(Slot& slot, const BatchPlan& plan) {
  slot.set_computed_by(plan.iterations(), plan.revision);
  run(slot, plan, plan.first_stage, std::max(plan.capacity.current, slot.padded_planes()),
      slot.iterations());
}

void BatchExecutor::recompute(Slot& slot, std::span<const TaskPlane> planes, std::size_t stage,
                              int iterations, const BatchPlan& plan) {
  const int max_planes = plan.max_recompute_planes(stage);
  const int padded_planes = plan.padded_planes(int(planes.size()), max_planes);
  slot.select_planes(planes, padded_planes, compute_stream_.get());
  run(slot, plan, stage, std::max(max_planes, padded_planes), iterations);
}

/// Runs one stage from pixels to reconstructions and copies its results out. Workspace is reserved
/// for `capacity` planes, so that a later, fuller batch need not allocate.
void BatchExecutor::run(Slot& slot, const BatchPlan& plan, std::size_t stage, int capacity,
                        int iterations) {
  BatchSolver& solver = this->solver(plan.stages[stage].solver);
  reserve_workspace(solver.workspace_bytes(handles(), plan.problem(stage, capacity, iterations)));
  const Problem problem = plan.problem(stage, slot.padded_planes(), iterations);
  slot.reserve_triplets(problem, capacity);
  DeviceBatch batch = slot.batch();
  batch.workspace = workspace_.as<>();
  batch.workspace_bytes = workspace_.bytes();
  slot.timeline().begin(DeviceSpan::compute, int(slot.task_planes().size()), compute_stream_.get());
  solver.solve(handles(), problem, batch);
  slot.timeline().end(DeviceSpan::compute, compute_stream_.get());
  slot.copy_out_results(solver_kind(plan.stages[stage].solver), solver.spectrum(problem),
                        streams());
}

/// All stages with the same solver share it.
BatchSolver& BatchExecutor::solver(SolverStep step) {
  std::unique_ptr<BatchSolver>& solver = solvers_[step];
  if (!solver) solver = make_solver(step);
  return *solver;
}

/// The only place where the workspace grows: at the first batch of a shape that needs more, at the
/// first recomputation, or after free_workspace().
void BatchExecutor::reserve_workspace(std::size_t bytes) {
  if (workspace_.bytes() >= bytes) return;
  // The batch of the other slot may still use it.
  ECKART_CUDA_CHECK(cudaStreamSynchronize(compute_stream_.get()));
  workspace_.reserve(bytes);
}

void BatchExecutor::drain() noexcept {
  for (cudaStream_t stream : {compute_stream_.get(), copy_out_stream_.get()})
    static_cast<void>(cudaStreamSynchronize(stream));
}

}  // namespace eckart::compute::cuda
