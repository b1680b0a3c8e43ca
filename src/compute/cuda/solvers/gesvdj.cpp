#include <cstdint>

#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/full_svd_solver.hpp"

namespace eckart::compute::cuda {
namespace {

// The accuracy of the singular values at which the sweeps end. Chosen for this program: 45 times
// float64's epsilon.
constexpr double kJacobiTolerance = 1e-14;
constexpr int kMaxJacobiSweeps = 100;  // equals cuSOLVER's default

/// Decomposes A', n x m. Its left singular vectors are the right ones of A, so no transposition is
/// needed.
class Gesvdj : public RightSingularVectorSolver {
 public:
  Gesvdj() : params_(ECKART_CUDA_HANDLE(JacobiParamsHandle, cusolverDnCreateGesvdjInfo)) {
    ECKART_CUDA_CHECK(cusolverDnXgesvdjSetTolerance(params_.get(), kJacobiTolerance));
    ECKART_CUDA_CHECK(cusolverDnXgesvdjSetMaxSweeps(params_.get(), kMaxJacobiSweeps));
  }

  ValueOrder order() const override { return ValueOrder::descending; }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    const int m = problem.m, n = problem.n;
    return 2 * WorkspaceAllocator::aligned_bytes<double>(std::size_t(m) * std::size_t(n)) +
           WorkspaceAllocator::aligned_bytes<double>(std::size_t(work_elements(handles, m, n)));
  }

  void solve(const Handles& handles, const Problem& problem,
             const SingularVectorBatch& batch) override {
    const int m = problem.m, n = problem.n, work_size = work_elements(handles, m, n);
    const std::size_t matrix = std::size_t(m) * std::size_t(n);
    const std::size_t matrix_bytes = matrix * sizeof(double);
    WorkspaceAllocator allocator(batch.workspace);
    double* a_t_nm = allocator.allocate<double>(matrix);
    double* left_mn = allocator.allocate<double>(matrix);
    double* work = allocator.allocate<double>(std::size_t(work_size));
    for (int i = 0; i < problem.count; ++i) {
      ECKART_CUDA_CHECK_COPY(
          cudaMemcpyAsync(a_t_nm, batch.a_t_nm + std::size_t(i) * matrix, matrix_bytes,
                          cudaMemcpyDeviceToDevice, handles.stream),
          matrix_bytes);
      ECKART_CUDA_CHECK_BATCH(
          cusolverDnDgesvdj(handles.solver, CUSOLVER_EIG_MODE_VECTOR, kEconomy, n, m, a_t_nm, n,
                            batch.values + std::int64_t(i) * n, batch.v + std::int64_t(i) * n * n,
                            n, left_mn, m, work, work_size, batch.info + i, params_.get()),
          n, m, 1);
    }
  }

 private:
  static constexpr int kEconomy = 1;

  int work_elements(const Handles& handles, int m, int n) const {
    int elements = 0;
    ECKART_CUDA_CHECK_BATCH(cusolverDnDgesvdj_bufferSize(
                                handles.solver, CUSOLVER_EIG_MODE_VECTOR, kEconomy, n, m, nullptr,
                                n, nullptr, nullptr, n, nullptr, m, &elements, params_.get()),
                            n, m, 1);
    return elements;
  }

  JacobiParamsHandle params_;
};

}  // namespace

std::unique_ptr<RightSingularVectorSolver> make_gesvdj() { return std::make_unique<Gesvdj>(); }

}  // namespace eckart::compute::cuda
