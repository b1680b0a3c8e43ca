#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/out_of_memory.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::cuda {
namespace {

constexpr std::size_t kBlasWorkspaceBytes = std::size_t(32) << 20;  // what cuBLAS wants on Hopper

// A batch is never less than an image.
constexpr int kMostChannels = 3;
// What the first solver leaves is little: memory for this share of a batch at a time.
constexpr int kRetryShare = 8;

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

}  // namespace

CudaLane::CudaLane(LaneOptions options)
    : options_(std::move(options)),
      stream_(make_first_stream(options_.device)),
      in_(make_stream()),
      out_(make_stream()),
      blas_(make_handle<Blas>(cublasCreate_v2)),
      solver_(make_handle<Solver>(cusolverDnCreate)) {
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

void CudaLane::start(int index, PaddedShape shape, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  Plan& plan = this->plan(shape);
  plan.places = std::max(plan.places, planes);
  Slot& slot = this->slot(index);
  for (;;) {  // memory for a full batch, or else for what there is, or else for this batch alone
    try {
      return queue(slot, shape, tasks, planes, plan);
    } catch (const OutOfMemory&) {
      drain();
      slot.free_memory();
      workspace_ = {};
      const bool this_batch_alone = plan.places == planes;
      plan.places = std::max(this_batch_alone ? 1 : planes, plan.places / 2);
      plan.retry_places = std::min(plan.retry_places, plan.places);  // the slot has no more
      if (this_batch_alone) throw;
    } catch (...) {
      drain();
      throw;
    }
  }
}

void CudaLane::queue(Slot& slot, PaddedShape shape, std::span<Task* const> tasks, int planes,
                     const Plan& plan) {
  slot.pack(shape, tasks, places(planes, plan.places), plan.places, options_.ranks.size(),
            streams());
  compute(slot);
  slot.copy_out_pixels(streams());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  try {
    fail(settle(slot, true));
  } catch (...) {
    drain();
    throw;
  }
}

void CudaLane::compute(Slot& slot) {
  const Plan& plan = plans_.at(slot.shape());
  run(slot, plan, *solvers(plan.solver)[plan.first], std::max(plan.places, slot.places()),
      plan.rounds);
}

std::vector<Owner> CudaLane::settle(Slot& slot, bool pixels) {
  Plan& plan = plans_.at(slot.shape());
  slot.wait();
  const auto& solvers = this->solvers(plan.solver);
  Verdict verdict = slot.judge(options_.ranks, solvers.size() == 1);
  if (pixels) slot.unpack();
  if (!options_.deterministic) {
    plan.rounds =
        next_rounds(plan.rounds, int(slot.owners().size()), verdict.want_rounds, verdict.worst_db);
  }
  std::vector<Owner> unsettled = std::move(verdict.unsettled);
  retries_ += int(unsettled.size());
  // The second is tried, with more rounds, where it was the first as well.
  for (std::size_t next = 1; next < solvers.size() && !unsettled.empty(); ++next) {
    retry(slot, plan, *solvers[next], next + 1 == solvers.size(), unsettled, pixels);
  }
  return unsettled;
}

/// Leaves in `unsettled` what this solver has not settled either.
void CudaLane::retry(Slot& slot, Plan& plan, BatchSolver& solver, bool last,
                     std::vector<Owner>& unsettled, bool pixels) {
  std::vector<Owner> left;
  for (auto rest = std::span(unsettled); !rest.empty();) {
    const auto owners = rest.first(std::min(std::size_t(plan.retry_places), rest.size()));
    try {
      slot.keep_only(owners, places(int(owners.size()), plan.retry_places), stream_.get());
      run(slot, plan, solver, plan.retry_places, kMostRounds);
    } catch (const OutOfMemory&) {
      drain();
      workspace_ = {};
      if (plan.retry_places == 1) throw;
      plan.retry_places /= 2;
      continue;
    }
    if (pixels) slot.copy_out_pixels(streams());
    slot.wait();
    const std::vector<Owner> more = slot.judge(options_.ranks, last).unsettled;
    if (pixels) slot.unpack();
    left.insert(left.end(), more.begin(), more.end());
    rest = rest.subspan(owners.size());
  }
  unsettled = std::move(left);
}

/// Pixels to reconstructions, and back what is known of them: all of it queued. Workspace is taken
/// for `capacity` planes, so that a later, fuller batch finds it there.
void CudaLane::run(Slot& slot, const Plan& plan, BatchSolver& solver, int capacity, int rounds) {
  reserve(solver.workspace_bytes(handles(), problem(slot.shape(), plan, capacity, rounds)));
  DeviceBatch batch = slot.batch();
  batch.workspace = workspace_.as<>();
  batch.workspace_bytes = workspace_.bytes();
  const Problem problem = this->problem(slot.shape(), plan, slot.places(), rounds);
  solver.solve(handles(), problem, batch);
  slot.copy_out_findings(solver.spectrum(problem), streams());
}

Problem CudaLane::problem(PaddedShape shape, const Plan& plan, int places, int rounds) const {
  return {shape.rows, shape.cols, places, plan.ranks, rounds};
}

CudaLane::Plan& CudaLane::plan(PaddedShape shape) {
  const auto known = plans_.find(shape);
  if (known != plans_.end()) return known->second;
  Plan plan{};
  for (const RankPolicy& policy : options_.ranks) {
    plan.ranks.push_back(choose_rank(policy, shape.rows, shape.cols));
  }
  plan.solver = options_.choose(shape, *std::max_element(plan.ranks.begin(), plan.ranks.end()));
  plan.places = std::max(kMostChannels, options_.batch_planes(shape));
  plan.retry_places = std::max(kMostChannels, plan.places / kRetryShare);
  plan.rounds = kFirstRounds;
  const Problem one = problem(shape, plan, 1, plan.rounds);
  const auto& solvers = this->solvers(plan.solver);
  while (!solvers[plan.first]->takes(one)) ++plan.first;
  return plans_[shape] = plan;
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
  if (solvers.empty()) solvers = make_solvers(kind);
  return solvers;
}

}  // namespace eckart::cuda
