#include <cstdint>
#include <vector>

#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::cuda {
namespace {

class GramSolver : public BatchSolver {
 public:
  GramSolver() : params_(make_handle<SolverParams>(cusolverDnCreateParams)) {}

  ValueOrder order() const override { return ValueOrder::ascending_squares; }

  std::size_t workspace_bytes(const Handles& handles, int, int n, int count) override {
    return query(handles, n, count).device;
  }

  void solve(const Handles& handles, const Factorization& batch) override {
    const int m = batch.m, n = batch.n;
    const double one = 1, zero = 0;
    // G = A'A, in place of the eigenvectors that replace it
    ECKART_CUDA_CHECK(cublasDgemmStridedBatched(
        handles.blas, CUBLAS_OP_N, CUBLAS_OP_T, n, n, m, &one, batch.a_t_nm, n, std::int64_t(n) * m,
        batch.a_t_nm, n, std::int64_t(n) * m, &zero, batch.v_nn, n, std::int64_t(n) * n, batch.count));
    const Sizes sizes = query(handles, n, batch.count);
    host_workspace_.resize(sizes.host);
    ECKART_CUDA_CHECK(cusolverDnXsyevBatched(
        handles.solver, params_.get(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
        batch.v_nn, n, CUDA_R_64F, batch.values_n, CUDA_R_64F, batch.workspace, batch.workspace_bytes,
        host_workspace_.data(), sizes.host, batch.info, batch.count));
  }

 private:
  struct Sizes {
    std::size_t device = 0, host = 0;
  };
  Sizes query(const Handles& handles, int n, int count) const {
    Sizes sizes;
    ECKART_CUDA_CHECK(cusolverDnXsyevBatched_bufferSize(
        handles.solver, params_.get(), CUSOLVER_EIG_MODE_VECTOR, CUBLAS_FILL_MODE_LOWER, n, CUDA_R_64F,
        nullptr, n, CUDA_R_64F, nullptr, CUDA_R_64F, &sizes.device, &sizes.host, count));
    return sizes;
  }

  SolverParams params_;
  std::vector<std::byte> host_workspace_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_gram_solver() { return std::make_unique<GramSolver>(); }

}  // namespace eckart::cuda
