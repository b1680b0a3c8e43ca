#include <cstdint>

#include "compute/cuda/raii.hpp"
#include "compute/cuda/solvers/full_svd_solver.hpp"

namespace eckart::compute::cuda {
namespace {

class Gesvd : public RightSingularVectorSolver {
 public:
  ValueOrder order() const override { return ValueOrder::descending; }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    const int m = problem.m, n = problem.n;
    return WorkspaceAllocator::aligned_bytes<double>(std::size_t(m) * std::size_t(n)) +
           WorkspaceAllocator::aligned_bytes<double>(std::size_t(n) * std::size_t(n)) +
           WorkspaceAllocator::aligned_bytes<double>(std::size_t(work_elements(handles, m, n)));
  }

  void solve(const Handles& handles, const Problem& problem,
             const SingularVectorBatch& batch) override {
    const int m = problem.m, n = problem.n, work_size = work_elements(handles, m, n);
    WorkspaceAllocator allocator(batch.workspace);
    double* a_mn = allocator.allocate<double>(std::size_t(m) * std::size_t(n));
    double* v_t_nn = allocator.allocate<double>(std::size_t(n) * std::size_t(n));
    double* work = allocator.allocate<double>(std::size_t(work_size));
    for (int i = 0; i < problem.count; ++i) {
      transpose(handles, n, m, batch.a_t_nm + std::int64_t(i) * n * m, a_mn);
      // No left vectors; the right vectors, transposed, in v_t_nn.
      ECKART_CUDA_CHECK_BATCH(cusolverDnDgesvd(handles.solver, 'N', 'A', m, n, a_mn, m,
                                               batch.values + std::int64_t(i) * n, nullptr, m,
                                               v_t_nn, n, work, work_size, nullptr, batch.info + i),
                              m, n, 1);
      transpose(handles, n, n, v_t_nn, batch.v + std::int64_t(i) * n * n);
    }
  }

 private:
  static int work_elements(const Handles& handles, int m, int n) {
    int elements = 0;
    ECKART_CUDA_CHECK_BATCH(cusolverDnDgesvd_bufferSize(handles.solver, m, n, &elements), m, n, 1);
    return elements;
  }

  /// Writes the transpose of `from` (rows x cols) to `to` (cols x rows); both column-major.
  static void transpose(const Handles& handles, int rows, int cols, const double* from,
                        double* to) {
    const double one = 1, zero = 0;
    ECKART_CUDA_CHECK_BATCH(cublasDgeam(handles.blas, CUBLAS_OP_T, CUBLAS_OP_N, cols, rows, &one,
                                        from, rows, &zero, to, cols, to, cols),
                            cols, rows, 1);
  }
};

}  // namespace

std::unique_ptr<RightSingularVectorSolver> make_gesvd() { return std::make_unique<Gesvd>(); }

}  // namespace eckart::compute::cuda
