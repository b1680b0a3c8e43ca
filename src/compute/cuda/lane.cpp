#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/cuda/profiler_range.hpp"
#include "compute/make_room.hpp"
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
void fail(const std::vector<Owner>& owners) {
  for (const Owner& owner : owners) {
    owner.task->error =
        "channel " + std::to_string(owner.channel) + ": the solver did not converge";
  }
}

void mark_done_again(std::span<const Owner> owners) {
  for (const Owner& owner : owners) {
    for (auto& planes : owner.task->results) planes[std::size_t(owner.channel)].done_again = true;
  }
}

}  // namespace

CudaLane::CudaLane(LaneOptions options)
    : options_(std::move(options)),
      stream_(make_first_stream(options_.device)),
      in_(make_stream()),
      out_(make_stream()),
      blas_(make_handle<Blas>(cublasCreate_v2)),
      solver_(make_handle<Solver>(cusolverDnCreate)),
      clock_(options_.trace) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cublasSetWorkspace(blas_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cusolverDnSetDeterministicMode(solver_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

CudaLane::~CudaLane() { drain(); }

/// Waits until nothing that was queued uses the lane's memory any more.
void CudaLane::drain() noexcept {
  for (cudaStream_t stream : {in_.get(), stream_.get(), out_.get()}) {
    static_cast<void>(cudaStreamSynchronize(stream));
  }
}

void CudaLane::start(int index, const BatchKind& kind, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  const ProfilerRange range("start", kind.shape, planes);
  Plan& plan = this->plan(kind);
  plan.places.make(planes, options_.deterministic);
  Slot& slot = this->slot(index);
  for (;;) {  // memory for a full batch, or else for what there is, or else for this batch alone
    try {
      return queue(slot, kind, tasks, planes, plan);
    } catch (const OutOfMemory&) {
      drain();
      slot.free_memory();
      workspace_ = {};
      if (!plan.places.shrink(planes)) throw;
    } catch (...) {
      drain();
      throw;
    }
  }
}

void CudaLane::queue(Slot& slot, const BatchKind& kind, std::span<Task* const> tasks, int planes,
                     const Plan& plan) {
  slot.timeline().restart(clock_.anchor());
  slot.pack(kind, tasks, places(planes, plan.places.now), plan.places.now, streams());
  compute(slot);
  slot.copy_out_pixels(streams());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  const ProfilerRange range("finish", slot.kind().shape, int(slot.owners().size()));
  try {
    fail(settle(slot, true));
    slot.unpack();
    const std::vector<DeviceSpan> spans = slot.timeline().read();
    spans_.insert(spans_.end(), spans.begin(), spans.end());
  } catch (...) {
    drain();
    throw;
  }
}

void CudaLane::compute(Slot& slot) {
  const Plan& plan = plans_.at(slot.kind());
  slot.set_rounds(plan.rounds.next());
  run(slot, plan, *solvers(plan.solver)[plan.first], std::max(plan.places.now, slot.places()),
      slot.rounds());
}

std::vector<Owner> CudaLane::settle(Slot& slot, bool pixels) {
  Plan& plan = plans_.at(slot.kind());
  slot.wait();
  const auto& solvers = this->solvers(plan.solver);
  Verdict verdict = slot.judge(solvers.size() == 1);
  auto& [unsettled, want_rounds, worst_db] = verdict;
  retries_ += int(unsettled.size());
  // The second is tried after itself, with more rounds where there are more.
  const bool again = plan.first == 0 || slot.rounds() < Rounds::kMost;
  if (!options_.deterministic)
    plan.rounds.learn(slot.rounds(), int(slot.owners().size()), want_rounds, worst_db);
  for (std::size_t next = again ? 1 : 2; next < solvers.size(); ++next) {
    const bool last = next + 1 == solvers.size();
    unsettled = retry(slot, plan, *solvers[next], last, unsettled, pixels);
  }
  return unsettled;
}

/// What this solver has not settled either.
std::vector<Owner> CudaLane::retry(Slot& slot, Plan& plan, BatchSolver& solver, bool last,
                                   std::span<const Owner> unsettled, bool pixels) {
  std::vector<Owner> left;
  slot.timeline().mark_again();
  while (!unsettled.empty()) {
    // One that takes planes one by one is not given empty ones, that others might have been.
    const int most = options_.deterministic && solver.one_by_one() ? 1 : plan.places.retry;
    const auto owners = unsettled.first(std::min(std::size_t(most), unsettled.size()));
    const ProfilerRange range("again", slot.kind().shape, int(owners.size()));
    try {
      slot.keep_only(owners, places(int(owners.size()), most), stream_.get());
      run(slot, plan, solver, plan.places.retry, Rounds::kMost);
    } catch (const OutOfMemory&) {
      drain();
      workspace_ = {};
      if (plan.places.retry == 1) throw;
      plan.places.retry /= 2;
      continue;
    }
    if (pixels) slot.copy_out_own_pixels(streams());
    slot.wait();
    const Verdict verdict = slot.judge(last);
    mark_done_again(owners);
    left.insert(left.end(), verdict.unsettled.begin(), verdict.unsettled.end());
    unsettled = unsettled.subspan(owners.size());
  }
  return left;
}

/// Pixels to reconstructions, and back what is known of them: all of it queued. Workspace is taken
/// for `capacity` planes, so that a later, fuller batch finds it there.
void CudaLane::run(Slot& slot, const Plan& plan, BatchSolver& solver, int capacity, int rounds) {
  reserve(solver.workspace_bytes(handles(), problem(slot.kind().shape, plan, capacity, rounds)));
  DeviceBatch batch = slot.batch();
  batch.workspace = workspace_.as<>();
  batch.workspace_bytes = workspace_.bytes();
  const Problem problem = this->problem(slot.kind().shape, plan, slot.places(), rounds);
  slot.timeline().begin(DeviceSpan::compute, int(slot.owners().size()), stream_.get());
  solver.solve(handles(), problem, batch);
  slot.timeline().end(DeviceSpan::compute, stream_.get());
  slot.copy_out_findings(solver.spectrum(problem), streams());
}

Problem CudaLane::problem(PaddedShape shape, const Plan& plan, int places, int rounds) const {
  return {shape.rows, shape.cols, places, plan.ranks, plan.columns, rounds};
}

CudaLane::Plan& CudaLane::plan(const BatchKind& kind) {
  const auto known = plans_.find(kind);
  if (known != plans_.end()) return known->second;
  const PaddedShape shape = kind.shape;
  Plan plan{};
  for (const RankPolicy& policy : kind.ranks) {
    plan.ranks.push_back(choose_rank(policy, shape.rows, shape.cols));
  }
  const BatchSize full =
      options_.batch_size(shape, *std::max_element(plan.ranks.begin(), plan.ranks.end()));
  plan.solver = options_.choose(full);
  plan.first = plan.solver == SolverKind::subspace && full.float64 ? 1 : 0;
  plan.columns = full.columns;
  plan.places = Places::of(options_.batch_planes(kind));
  make_room(plans_, [&](const BatchKind& other) {  // but for what may be in flight
    return std::any_of(slots_.begin(), slots_.end(),
                       [&](const Slot& slot) { return slot.kind() == other; });
  });
  return plans_[kind] = plan;
}

/// The workspace grows here and nowhere else: at the first batch of a shape that needs more, at the
/// first retry, or after it was given up for want of memory.
void CudaLane::reserve(std::size_t workspace_bytes) {
  if (workspace_.bytes() >= workspace_bytes) return;
  ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));  // the other slot may be using it
  workspace_.reserve(workspace_bytes);
}

std::vector<std::unique_ptr<BatchSolver>>& CudaLane::solvers(SolverKind kind) {
  auto& solvers = solvers_[kind];
  if (solvers.empty()) solvers = make_solvers(kind, options_.alone);
  return solvers;
}

}  // namespace eckart::cuda
