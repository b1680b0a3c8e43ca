#include "compute/cuda/lane.hpp"

#include <algorithm>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/solver_choice.hpp"

namespace eckart::cuda {
namespace {

constexpr std::size_t kBlasWorkspaceBytes = std::size_t(32) << 20;  // what cuBLAS wants on Hopper

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
      blas_(make_handle<Blas>(cublasCreate_v2)),
      solver_(make_handle<Solver>(cusolverDnCreate)) {
  blas_workspace_.reserve(kBlasWorkspaceBytes);
  ECKART_CUDA_CHECK(cublasSetStream(blas_.get(), stream_.get()));
  ECKART_CUDA_CHECK(cublasSetWorkspace(blas_.get(), blas_workspace_.as<>(), kBlasWorkspaceBytes));
  ECKART_CUDA_CHECK(cusolverDnSetStream(solver_.get(), stream_.get()));
  ECKART_CUDA_CHECK(
      cusolverDnSetDeterministicMode(solver_.get(), CUSOLVER_DETERMINISTIC_RESULTS));
}

CudaLane::~CudaLane() { static_cast<void>(cudaStreamSynchronize(stream_.get())); }

void CudaLane::start(int index, PaddedShape shape, std::span<Task* const> tasks) {
  int planes = 0;
  for (const Task* task : tasks) planes += task->input.shape().channels;
  const Plan& plan = this->plan(shape, planes);
  // The libraries may choose another algorithm for another number of matrices.
  const int places = options_.deterministic ? plan.places : planes;
  Slot& slot = this->slot(index);
  slot.pack(shape, tasks, places, options_.ranks.size(), stream_.get());
  compute(slot, shape);
  slot.copy_out(stream_.get());
}

void CudaLane::finish(int index) {
  Slot& slot = this->slot(index);
  slot.wait();
  slot.unpack_results(solver(plans_.at(slot.shape()).solver).order() == ValueOrder::ascending_squares,
                      options_.ranks);
}

void CudaLane::compute(Slot& slot, PaddedShape shape) {
  const Plan& plan = plans_.at(shape);
  const int m = shape.rows, n = shape.cols, places = slot.places();
  cudaStream_t stream = stream_.get();
  BatchSolver& solver = this->solver(plan.solver);
  unpack(slot.pixels(), slot.planes(), places, m, n, a_t_nm_.as<double>(), stream);
  solver.solve({stream, blas_.get(), solver_.get()},
               {m, n, places, a_t_nm_.as<double>(), v_nn_.as<double>(), slot.values(), slot.info(),
                workspace_.as<>(), workspace_.bytes()});
  const Factors factors = project(shape, places, plan.rank, solver.order());
  for (std::size_t r = 0; r < options_.ranks.size(); ++r) {
    reconstruct(slot.pixels(), slot.planes(), places, m, n, options_.ranks[r].k, factors, slot.output(r),
                slot.errors(r), stream);
  }
}

/// P = A V for the leading columns of V.
Factors CudaLane::project(PaddedShape shape, int places, int rank, ValueOrder order) {
  const int m = shape.rows, n = shape.cols;
  const bool ascending = order == ValueOrder::ascending_squares;
  const double* v = v_nn_.as<double>() + (ascending ? std::int64_t(n - rank) * n : 0);
  double* p = p_mk_.as<double>();
  const double one = 1, zero = 0;
  ECKART_CUDA_CHECK(cublasDgemmStridedBatched(
      blas_.get(), CUBLAS_OP_T, CUBLAS_OP_N, m, rank, n, &one, a_t_nm_.as<double>(), n,
      std::int64_t(n) * m, v, n, std::int64_t(n) * n, &zero, p, m, std::int64_t(m) * rank, places));
  const std::int64_t last = rank - 1;
  return {.p_mk = ascending ? p + last * m : p,
          .v_nk = ascending ? v + last * n : v,
          .p_plane = std::int64_t(m) * rank,
          .v_plane = std::int64_t(n) * n,
          .p_column = ascending ? -m : m,
          .v_column = ascending ? -n : n};
}

/// Memory grows here and nowhere else: at the first batch of a shape that needs more.
const CudaLane::Plan& CudaLane::plan(PaddedShape shape, int planes) {
  const auto known = plans_.find(shape);
  if (known != plans_.end() && known->second.places >= planes) return known->second;
  const int m = shape.rows, n = shape.cols;
  Plan plan{.solver = choose_solver(options_.solver, shape).solver,
            .places = std::max(planes, options_.batch_planes(shape)),
            .rank = 0,
            .workspace_bytes = 0};
  for (const RankPolicy& policy : options_.ranks) plan.rank = std::max(plan.rank, choose_rank(policy, m, n));
  plan.workspace_bytes =
      solver(plan.solver).workspace_bytes({stream_.get(), blas_.get(), solver_.get()}, m, n, plan.places);
  ECKART_CUDA_CHECK(cudaStreamSynchronize(stream_.get()));  // the other slot may be using what grows
  a_t_nm_.reserve(doubles(m, n, plan.places));
  v_nn_.reserve(doubles(n, n, plan.places));
  p_mk_.reserve(doubles(m, plan.rank, plan.places));
  workspace_.reserve(plan.workspace_bytes);
  return plans_[shape] = plan;
}

BatchSolver& CudaLane::solver(SolverKind kind) {
  auto& solver = solvers_[kind];
  if (!solver) solver = make_solver(kind);
  return *solver;
}

}  // namespace eckart::cuda
