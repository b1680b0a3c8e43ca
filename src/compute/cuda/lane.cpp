#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/cuda/profiler_range.hpp"
#include "compute/evict_if_full.hpp"
#include "compute/out_of_memory.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::cuda {
namespace {

constexpr std::size_t kBlasWorkspaceBytes = std::size_t(32) << 20;  // what cuBLAS wants on Hopper

Stream make_stream() {
  return make_handle<Stream>(cudaStreamCreateWithFlags, cudaStreamNonBlocking);
}

/// Everything of a lane is made on its device; the thread stays on it.
Stream make_first_stream(int device) {
  ECKART_CUDA_CHECK(cudaSetDevice(device));
  return make_stream();
}

/// The tasks of these planes have failed.
void mark_failed(const std::vector<TaskPlane>& task_planes) {
  for (const TaskPlane& task_plane : task_planes) {
    task_plane.task->error =
        "channel " + std::to_string(task_plane.channel) + ": the solver did not converge";
  }
}

void mark_recomputed(std::span<const TaskPlane> task_planes) {
  for (const TaskPlane& task_plane : task_planes) {
    for (auto& planes : task_plane.task->results)
      planes[std::size_t(task_plane.channel)].recomputed = true;
  }
}

}  // namespace

CudaLane::CudaLane(LaneOptions options)
    : options_(std::move(options)),
      compute_stream_(make_first_stream(options_.device)),
      copy_in_stream_(make_stream()),
      copy_out_stream_(make_stream()),
      blas_handle_(make_handle<BlasHandle>(cublasCreate_v2)),
      solver_handle_(make_handle<SolverHandle>(cusolverDnCreate)),
      clock_(options_.trace) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_handle_.get(), compute_stream_.get()));
  ECKART_CUDA_CHECK(
      cublasSetWorkspace(blas_handle_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_handle_.get(), compute_stream_.get()));
  ECKART_CUDA_CHECK(
      cusolverDnSetDeterministicMode(solver_handle_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

CudaLane::~CudaLane() { drain(); }

/// Waits until nothing that was queued uses the lane's memory any more.
void CudaLane::drain() noexcept {
  for (cudaStream_t stream :
       {copy_in_stream_.get(), compute_stream_.get(), copy_out_stream_.get()}) {
    static_cast<void>(cudaStreamSynchronize(stream));
  }
}

void CudaLane::start(int index, const BatchKey& kind, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  const ProfilerRange range("start", kind.shape, planes);
  SolvePlan& plan = this->plan(kind);
  plan.capacity.grow_for(planes, options_.deterministic);
  Slot& slot = this->slot(index);
  for (;;) {  // memory for a full batch, or else for what there is, or else for this batch alone
    try {
      return enqueue(slot, kind, tasks, planes, plan);
    } catch (const OutOfMemory&) {
      drain();
      slot.free_memory();
      workspace_ = {};
      if (!plan.capacity.shrink(planes)) throw;
    } catch (...) {
      drain();
      throw;
    }
  }
}

void CudaLane::enqueue(Slot& slot, const BatchKey& kind, std::span<Task* const> tasks, int planes,
                       const SolvePlan& plan) {
  slot.timeline().restart(clock_.sync_point());
  slot.pack(kind, tasks, padded_planes(planes, plan.capacity.current), plan.capacity.current,
            streams());
  compute(slot);
  slot.copy_out_pixels(streams());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  const ProfilerRange range("finish", slot.kind().shape, int(slot.task_planes().size()));
  try {
    mark_failed(recompute_uncertified(slot, true));
    slot.copy_to_outputs();
    const std::vector<DeviceSpan> spans = slot.timeline().read();
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  } catch (...) {
    drain();
    throw;
  }
}

void CudaLane::compute(Slot& slot) {
  const SolvePlan& plan = plans_.at(slot.kind());
  slot.set_iterations(plan.tuner.next());
  run(slot, plan, *solvers(plan.solver)[plan.first_solver],
      std::max(plan.capacity.current, slot.padded_planes()), slot.iterations());
}

std::vector<TaskPlane> CudaLane::recompute_uncertified(Slot& slot, bool copy_pixels) {
  SolvePlan& plan = plans_.at(slot.kind());
  slot.wait();
  const auto& solvers = this->solvers(plan.solver);
  BatchCertification certification = slot.certify(solvers.size() == 1);
  auto& [uncertified, planes_needing_iterations, max_iteration_loss_db] = certification;
  planes_recomputed_ += int(uncertified.size());
  // The second is tried after itself, with more rounds where there are more.
  const bool retry_first_solver =
      plan.first_solver == 0 || slot.iterations() < IterationTuner::kMax;
  if (!options_.deterministic)
    plan.tuner.update(slot.iterations(), int(slot.task_planes().size()), planes_needing_iterations,
                      max_iteration_loss_db);
  for (std::size_t next = retry_first_solver ? 1 : 2; next < solvers.size(); ++next) {
    const bool last = next + 1 == solvers.size();
    uncertified = recompute(slot, plan, *solvers[next], last, uncertified, copy_pixels);
  }
  return uncertified;
}

/// What this solver has not settled either.
std::vector<TaskPlane> CudaLane::recompute(Slot& slot, SolvePlan& plan, BatchSolver& solver,
                                           bool last, std::span<const TaskPlane> uncertified,
                                           bool copy_pixels) {
  std::vector<TaskPlane> left;
  slot.timeline().begin_recompute();
  while (!uncertified.empty()) {
    // One that takes planes one by one is not given empty ones, that others might have been.
    const int max_planes =
        options_.deterministic && solver.is_sequential() ? 1 : plan.capacity.recompute;
    const auto task_planes =
        uncertified.first(std::min(std::size_t(max_planes), uncertified.size()));
    const ProfilerRange range("recompute", slot.kind().shape, int(task_planes.size()));
    try {
      slot.select_planes(task_planes, padded_planes(int(task_planes.size()), max_planes),
                         compute_stream_.get());
      run(slot, plan, solver, plan.capacity.recompute, IterationTuner::kMax);
    } catch (const OutOfMemory&) {
      drain();
      workspace_ = {};
      if (plan.capacity.recompute == 1) throw;
      plan.capacity.recompute /= 2;
      continue;
    }
    if (copy_pixels) slot.copy_out_selected_pixels(streams());
    slot.wait();
    const BatchCertification certification = slot.certify(last);
    mark_recomputed(task_planes);
    left.insert(left.end(), certification.uncertified.begin(), certification.uncertified.end());
    uncertified = uncertified.subspan(task_planes.size());
  }
  return left;
}

/// Pixels to reconstructions, and back what is known of them: all of it queued. Workspace is taken
/// for `capacity` planes, so that a later, fuller batch finds it there.
void CudaLane::run(Slot& slot, const SolvePlan& plan, BatchSolver& solver, int capacity,
                   int iterations) {
  reserve(
      solver.workspace_bytes(handles(), problem(slot.kind().shape, plan, capacity, iterations)));
  DeviceBatch batch = slot.batch();
  batch.workspace = workspace_.as<>();
  batch.workspace_bytes = workspace_.bytes();
  const Problem problem = this->problem(slot.kind().shape, plan, slot.padded_planes(), iterations);
  slot.timeline().begin(DeviceSpan::compute, int(slot.task_planes().size()), compute_stream_.get());
  solver.solve(handles(), problem, batch);
  slot.timeline().end(DeviceSpan::compute, compute_stream_.get());
  slot.copy_out_results(solver.spectrum(problem), streams());
}

Problem CudaLane::problem(PaddedShape shape, const SolvePlan& plan, int padded_planes,
                          int iterations) const {
  return {shape.rows, shape.cols, padded_planes, plan.ranks, plan.columns, iterations};
}

CudaLane::SolvePlan& CudaLane::plan(const BatchKey& kind) {
  const auto known = plans_.find(kind);
  if (known != plans_.end()) return known->second;
  const PaddedShape shape = kind.shape;
  SolvePlan plan{};
  for (const RankPolicy& policy : kind.ranks) {
    plan.ranks.push_back(choose_rank(policy, shape.rows, shape.cols));
  }
  const BatchWorkload full =
      options_.batch_size(shape, *std::max_element(plan.ranks.begin(), plan.ranks.end()));
  plan.solver = options_.choose(full);
  plan.first_solver = plan.solver == SolverKind::subspace && full.is_float64 ? 1 : 0;
  plan.columns = full.columns;
  plan.capacity = BatchCapacity::for_full_batch(options_.batch_planes(kind));
  evict_if_full(plans_, [&](const BatchKey& other) {  // but for what may be in flight
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.kind() == other; });
  });
  return plans_[kind] = plan;
}

/// The workspace grows here and nowhere else: at the first batch of a shape that needs more, at the
/// first retry, or after it was given up for want of memory.
void CudaLane::reserve(std::size_t workspace_bytes) {
  if (workspace_.bytes() >= workspace_bytes) return;
  ECKART_CUDA_CHECK(
      cudaStreamSynchronize(compute_stream_.get()));  // the other slot may be using it
  workspace_.reserve(workspace_bytes);
}

std::vector<std::unique_ptr<BatchSolver>>& CudaLane::solvers(SolverKind kind) {
  auto& solvers = solvers_[kind];
  if (solvers.empty()) solvers = make_solvers(kind, options_.is_single_solver);
  return solvers;
}

}  // namespace eckart::cuda
