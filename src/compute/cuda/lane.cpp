#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/cuda/kernels/small_svd.hpp"
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
      most_subspace_columns_(most_small_columns(options_.device)),
      blas_(make_handle<Blas>(cublasCreate_v2)),
      solver_(make_handle<Solver>(cusolverDnCreate)) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cublasSetWorkspace(blas_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cusolverDnSetDeterministicMode(solver_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

CudaLane::~CudaLane() {
  for (cudaStream_t stream : {in_.get(), stream_.get(), out_.get()}) {
    static_cast<void>(cudaStreamSynchronize(stream));
  }
}

void CudaLane::start(int index, PaddedShape shape, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  const Plan& plan = this->plan(shape);
  Slot& slot = this->slot(index);
  slot.pack(shape, tasks, places(planes, plan.places), plan.places, options_.ranks.size(),
            streams());
  compute(slot);
  slot.copy_out_pixels(streams());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  fail(settle(slot, true));
}

void CudaLane::compute(Slot& slot) {
  const Plan& plan = plans_.at(slot.shape());
  run(slot, plan, *solvers(plan.solver).front());
}

std::vector<Owner> CudaLane::settle(Slot& slot, bool pixels) {
  Plan& plan = plans_.at(slot.shape());
  slot.wait();
  Verdict verdict = slot.judge(options_.ranks);
  if (pixels) slot.unpack();
  if (!options_.deterministic) {
    plan.rounds =
        next_rounds(plan.rounds, int(slot.owners().size()), verdict.want_rounds, verdict.worst_db);
  }
  const auto& solvers = this->solvers(plan.solver);
  std::vector<Owner> unsettled = std::move(verdict.unsettled);
  retries_ += int(unsettled.size());
  for (std::size_t next = 1; next < solvers.size() && !unsettled.empty(); ++next) {
    retry(slot, plan, *solvers[next], unsettled, pixels);
  }
  return unsettled;
}

/// Leaves in `unsettled` what this solver has not settled either.
void CudaLane::retry(Slot& slot, const Plan& plan, BatchSolver& solver,
                     std::vector<Owner>& unsettled, bool pixels) {
  std::vector<Owner> left;
  const auto some = std::size_t(plan.retry_places);
  for (std::size_t first = 0; first < unsettled.size(); first += some) {
    const auto owners =
        std::span(unsettled).subspan(first).first(std::min(some, unsettled.size() - first));
    slot.keep_only(owners, places(int(owners.size()), plan.retry_places), streams());
    run(slot, plan, solver);
    if (pixels) slot.copy_out_pixels(streams());
    slot.wait();
    const std::vector<Owner> more = slot.judge(options_.ranks).unsettled;
    if (pixels) slot.unpack();
    left.insert(left.end(), more.begin(), more.end());
  }
  unsettled = std::move(left);
}

/// Pixels to reconstructions, and back what is known of them: all of it queued.
void CudaLane::run(Slot& slot, const Plan& plan, BatchSolver& solver) {
  reserve(plan);
  DeviceBatch batch = slot.batch();
  batch.workspace = workspace_.as<>();
  batch.workspace_bytes = workspace_.bytes();
  const Problem problem = this->problem(slot.shape(), plan, slot.places());
  solver.solve(handles(), problem, batch);
  slot.copy_out_findings(solver.spectrum(problem), streams());
}

Problem CudaLane::problem(PaddedShape shape, const Plan& plan, int places) const {
  return {shape.rows, shape.cols, places, plan.ranks, plan.rounds};
}

CudaLane::Plan& CudaLane::plan(PaddedShape shape) {
  const auto known = plans_.find(shape);
  if (known != plans_.end()) return known->second;
  Plan plan{};
  for (const RankPolicy& policy : options_.ranks) {
    plan.ranks.push_back(choose_rank(policy, shape.rows, shape.cols));
  }
  plan.solver =
      choose_solver(options_.solver, shape, *std::max_element(plan.ranks.begin(), plan.ranks.end()),
                    most_subspace_columns_);
  plan.places = std::max(kMostChannels, options_.batch_planes(shape));
  plan.retry_places = std::max(kMostChannels, plan.places / kRetryShare);
  plan.rounds = kFirstRounds;
  int places = plan.places;
  for (const auto& solver : solvers(plan.solver)) {
    const Problem some = problem(shape, plan, places);
    plan.workspace_bytes = std::max(plan.workspace_bytes, solver->workspace_bytes(handles(), some));
    places = plan.retry_places;
  }
  return plans_[shape] = plan;
}

/// Memory grows here and nowhere else: at the first batch of a shape that needs more, or after a
/// growth that found no memory.
void CudaLane::reserve(const Plan& plan) {
  if (workspace_.bytes() >= plan.workspace_bytes) return;
  ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));  // the other slot may be using it
  workspace_.reserve(plan.workspace_bytes);
}

std::vector<std::unique_ptr<BatchSolver>>& CudaLane::solvers(SolverKind kind) {
  auto& solvers = solvers_[kind];
  if (solvers.empty()) solvers = make_solvers(kind);
  return solvers;
}

}  // namespace eckart::cuda
