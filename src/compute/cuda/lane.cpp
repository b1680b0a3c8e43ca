#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/solvers/batched.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::cuda {
namespace {

constexpr std::size_t kBlasWorkspaceBytes = std::size_t(32) << 20;  // what cuBLAS wants on Hopper

// A batch is never less than an image.
constexpr int kMostChannels = 3;

/// Everything of a lane is made on its device; the thread stays on it.
Stream make_stream(int device) {
  ECKART_CUDA_CHECK(cudaSetDevice(device));
  return make_handle<Stream>(cudaStreamCreateWithFlags, cudaStreamNonBlocking);
}

std::size_t doubles(int a, int b, int count) {
  return std::size_t(a) * std::size_t(b) * std::size_t(count) * sizeof(double);
}

}  // namespace

CudaLane::CudaLane(LaneOptions options)
    : options_(std::move(options)),
      stream_(make_stream(options_.device)),
      most_subspace_columns_(most_inverse_cholesky(options_.device)),
      blas_(make_handle<Blas>(cublasCreate_v2)),
      solver_(make_handle<Solver>(cusolverDnCreate)) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cublasSetWorkspace(blas_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cusolverDnSetDeterministicMode(solver_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

CudaLane::~CudaLane() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

void CudaLane::start(int index, PaddedShape shape, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  const Plan& plan = this->plan(shape);
  Slot& slot = this->slot(index);
  slot.pack(shape, tasks, places(planes, plan), plan.places, options_.ranks.size(), stream_.get());
  slot.copy_out(run(slot, plan, *solvers(plan.solver).front()), stream_.get());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  const Plan& plan = plans_.at(slot.shape());
  slot.wait();
  std::vector<int> unsettled = slot.unpack_results(options_.ranks);
  const auto& solvers = this->solvers(plan.solver);
  for (std::size_t next = 1; next < solvers.size() && !unsettled.empty(); ++next) {
    retries_ += int(unsettled.size());
    slot.keep_only(unsettled, places(int(unsettled.size()), plan), stream_.get());
    slot.copy_out(run(slot, plan, *solvers[next]), stream_.get());
    slot.wait();
    unsettled = slot.unpack_results(options_.ranks);
  }
  slot.fail(unsettled, "the solver did not converge");
}

void CudaLane::compute(Slot& slot) {
  const Plan& plan = plans_.at(slot.shape());
  for (const auto& solver : solvers(plan.solver)) {
    run(slot, plan, *solver);
    const std::vector<int> unsettled = slot.unsettled(stream_.get());
    if (unsettled.empty()) return;
    slot.keep_only(unsettled, places(int(unsettled.size()), plan), stream_.get());
  }
}

/// Places in a batch of so many planes. The libraries may choose another algorithm for another
/// number of matrices.
int CudaLane::places(int planes, const Plan& plan) const {
  return options_.deterministic ? plan.places : planes;
}

/// Unpack, factor, reconstruct: all of it queued on the stream.
Spectrum CudaLane::run(Slot& slot, const Plan& plan, BatchSolver& solver) {
  const PaddedShape shape = slot.shape();
  const int m = shape.rows, n = shape.cols, places = slot.places();
  reserve(shape, plan);
  unpack(slot.pixels(), slot.planes(), places, m, n, a_t_nm_.as<double>(), stream_.get());
  solver.solve(handles(), {m, n, places, plan.rank},
               {a_t_nm_.as<double>(), v_.as<double>(), slot.values(), slot.info(),
                workspace_.as<>(), workspace_.bytes()});
  const Spectrum spectrum = solver.spectrum(n, plan.rank);
  const Factors factors = project(shape, places, plan.rank, spectrum);
  for (std::size_t r = 0; r < options_.ranks.size(); ++r) {
    reconstruct(slot.pixels(), slot.planes(), places, m, n, options_.ranks[r].k, factors,
                slot.output(r), slot.errors(r), stream_.get());
  }
  return spectrum;
}

/// P = A V for the leading columns of V.
Factors CudaLane::project(PaddedShape shape, int places, int rank, const Spectrum& spectrum) {
  const int m = shape.rows, n = shape.cols;
  const bool ascending = spectrum.order == ValueOrder::ascending_squares;
  const double* v = v_.as<double>() + (ascending ? std::int64_t(spectrum.columns - rank) * n : 0);
  double* p = p_mk_.as<double>();
  const std::int64_t v_plane = std::int64_t(n) * spectrum.columns;
  multiply(handles(), m, rank, n, {CUBLAS_OP_T, a_t_nm_.as<double>(), n, std::int64_t(n) * m},
           {CUBLAS_OP_N, v, n, v_plane}, p, places);
  const std::int64_t last = rank - 1;
  return {.p_mk = ascending ? p + last * m : p,
          .v_nk = ascending ? v + last * n : v,
          .p_plane = std::int64_t(m) * rank,
          .v_plane = v_plane,
          .p_column = ascending ? -m : m,
          .v_column = ascending ? -n : n};
}

const CudaLane::Plan& CudaLane::plan(PaddedShape shape) {
  const auto known = plans_.find(shape);
  if (known != plans_.end()) return known->second;
  int rank = 0;
  for (const RankPolicy& policy : options_.ranks) {
    rank = std::max(rank, choose_rank(policy, shape.rows, shape.cols));
  }
  Plan plan{.solver = choose_solver(options_.solver, shape, rank, most_subspace_columns_),
            .places = std::max(kMostChannels, options_.batch_planes(shape)),
            .rank = rank,
            .workspace_bytes = 0};
  for (const auto& solver : solvers(plan.solver)) {
    plan.workspace_bytes =
        std::max(plan.workspace_bytes,
                 solver->workspace_bytes(handles(), {shape.rows, shape.cols, plan.places, rank}));
  }
  return plans_[shape] = plan;
}

/// Memory grows here and nowhere else: at the first batch of a shape that needs more, or after a
/// growth that found no memory.
void CudaLane::reserve(PaddedShape shape, const Plan& plan) {
  const int m = shape.rows, n = shape.cols;
  const std::pair<DeviceBuffer&, std::size_t> wanted[] = {
      {a_t_nm_, doubles(m, n, plan.places)},
      {v_, doubles(n, n, plan.places)},
      {p_mk_, doubles(m, plan.rank, plan.places)},
      {workspace_, plan.workspace_bytes}};
  for (const auto& [buffer, bytes] : wanted) {
    if (buffer.bytes() >= bytes) continue;
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));  // the other slot may be using it
    buffer.reserve(bytes);
  }
}

std::vector<std::unique_ptr<BatchSolver>>& CudaLane::solvers(SolverKind kind) {
  auto& solvers = solvers_[kind];
  if (solvers.empty()) solvers = make_solvers(kind);
  return solvers;
}

}  // namespace eckart::cuda
