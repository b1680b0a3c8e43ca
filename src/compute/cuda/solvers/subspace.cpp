#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/kernels/reorthonormalize.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack_float16.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/random_start.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::compute::cuda {
namespace {

// The shifts must exceed the float32 rounding of the Gram matrix. The final one is as small as
// possible, and the final pivots are large, because both limit how orthonormal Q is.
constexpr float kShift = 1e-5F, kMinPivot = 1e-6F;
constexpr float kFinalShift = 1e-6F, kFinalMinPivot = 1e-4F;

/// A batch of column-major matrices. `stride` is the distance of two matrices in elements.
struct Float16Matrices {
  const __half* data;
  int rows, cols;
  std::int64_t stride;

  Float16Matrices(const __half* data_, int rows_, int cols_)
      : Float16Matrices(data_, rows_, cols_, std::int64_t(rows_) * cols_) {}
  Float16Matrices(const __half* data_, int rows_, int cols_, std::int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
};

/// C = alpha op(A) B + beta C on the tensor cores, with float32 sums.
template <class Result>
void multiply(const Handles& handles, cublasOperation_t op, const Float16Matrices& a,
              const Float16Matrices& b, float alpha, float beta, Result* c, int count) {
  const bool is_transposed = op == CUBLAS_OP_T;
  const int rows = is_transposed ? a.cols : a.rows, inner = is_transposed ? a.rows : a.cols;
  ECKART_CUDA_CHECK_BATCH(
      cublasGemmStridedBatchedEx(
          handles.blas, op, CUBLAS_OP_N, rows, b.cols, inner, &alpha, a.data, CUDA_R_16F, a.rows,
          a.stride, b.data, CUDA_R_16F, b.rows, b.stride, &beta, c,
          sizeof(Result) == sizeof(__half) ? CUDA_R_16F : CUDA_R_32F, rows,
          std::int64_t(rows) * b.cols, count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT),
      rows, b.cols, count, inner);
}

/// Block subspace iteration on A with l > k columns: Z = orth(A Q), Q = orth(A'Z). Pixels are exact
/// in float16 (16 bits as hi + lo). The next iteration corrects the rounding of Z and Q, so the
/// products are float16 with float32 sums.
///
/// Then B = A Q, the left singular vectors U_k of B (Gram matrix in float64, Jacobi), V = A'U_k,
/// and A_k = U_k V', with U and V as hi + lo. The singular values of B and the column norms of V
/// are the RitzValues for the loss estimate.
class SubspaceSolver : public BatchSolver {
 public:
  SpectrumFormat spectrum(const Problem& problem) const override {
    const Sizes sizes(problem);
    return {ValueOrder::ritz, sizes.l, sizes.k, Precision::float16};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    const Sizes sizes(problem);
    start_nl_.reserve(handles.stream, sizes.n, sizes.l);
    WorkspaceAllocator allocator(nullptr);
    allocate(allocator, sizes);
    return allocator.used_bytes();
  }

  void solve(const Handles& handles, const Problem& problem, const DeviceBatch& batch) override {
    const Sizes sizes(problem);
    const int m = sizes.m, n = sizes.n, l = sizes.l, k = sizes.k, count = sizes.count;
    WorkspaceAllocator allocator(batch.workspace);
    const Buffers buffers = allocate(allocator, sizes);
    __half* lo_t = batch.has_16_bit_samples ? buffers.a_lo_t : nullptr;
    const ProfilerRange phase("unpack");
    unpack_float16(batch.pixels, batch.planes, count, m, n, buffers.a_hi_t, lo_t, handles.stream);
    const SplitInput a{{buffers.a_hi_t, n, m}, lo_t};

    phase.next("iterate");
    iterate(handles, sizes, buffers, a);

    phase.next("factor");
    // B = A Q and its left singular vectors U = B M
    const SpectrumFormat spectrum = this->spectrum(problem);
    const std::int64_t block = std::int64_t(n) * l;
    multiply_input(handles, CUBLAS_OP_T, a, {buffers.q_nl, n, l, 2 * block},
                   1 / orthonormal_column_scale(n), 0.0F, buffers.b_ml, count);
    multiply_input(handles, CUBLAS_OP_T, a, {buffers.q_nl + block, n, l, 2 * block},
                   1 / orthonormal_column_scale(n), 1.0F, buffers.b_ml, count);
    gram_float64(buffers.b_ml, m, l, buffers.s64_ll, count, handles.stream);
    small_svd(buffers.s64_ll, l, problem.rank(), k, batch.values, spectrum.values(), buffers.m_ll,
              buffers.s_ll, batch.info, buffers.ill_conditioned, count, handles.stream);
    rotate_split(buffers.b_ml, m, l, buffers.m_ll, k, false, orthonormal_column_scale(m),
                 buffers.u_mk, count, handles.stream);
    reorthonormalize(buffers.u_mk, m, k, orthonormal_column_scale(m), buffers.ill_conditioned,
                     buffers.s_ll, count, handles.stream);
    project(a.hi_t.data, a.lo_t, buffers.u_mk, m, n, k, 1 / orthonormal_column_scale(m),
            buffers.v_nk, buffers.tile_squared_norms, batch.values + l, spectrum.values(), count,
            handles.stream);
    const SplitFactors factors{buffers.u_mk, buffers.v_nk, k, 1 / orthonormal_column_scale(m)};
    normalize_triplets(batch.planes, count, m, n, factors, batch.triplets, handles.stream);
    phase.next("reconstruct");
    const int* ranks = choose_ranks(handles, problem, batch,
                                    {.values = batch.values,
                                     .plane_stride = spectrum.values(),
                                     .first = l,
                                     .step = 1,
                                     .count = problem.rank(),
                                     .are_roots = false,
                                     .is_scaled = true});
    reconstruct_float16(batch.pixels, batch.planes, count, m, n, problem.ranks, ranks, factors,
                        batch.outputs, batch.output_stride_bytes, batch.errors,
                        std::size_t(reconstruct_tile_count(m, n)) * std::size_t(count),
                        handles.stream);
  }

 private:
  using Sizes = SubspaceSizes;

  /// A transposed, as hi + lo.
  struct SplitInput {
    Float16Matrices hi_t;
    const __half* lo_t;  ///< null if it is zero
  };

  struct Buffers : SubspaceBuffers<__half> {
    SmallMatrix m_ll;
  };
  static Buffers allocate(WorkspaceAllocator& allocator, const Sizes& sizes) {
    const auto buffers = SubspaceBuffers<__half>::allocate(allocator, sizes);
    return {buffers, {buffers.m_hi, buffers.m_lo, buffers.m_scale}};
  }

  /// c = alpha A x + beta c (op T on A transposed), or alpha A'x + beta c (op N).
  template <class Result>
  static void multiply_input(const Handles& handles, cublasOperation_t op, const SplitInput& a,
                             const Float16Matrices& x, float alpha, float beta, Result* c,
                             int count) {
    multiply(handles, op, a.hi_t, x, alpha, beta, c, count);
    if (a.lo_t) {
      multiply(handles, op, {a.lo_t, a.hi_t.rows, a.hi_t.cols}, x, alpha, 1.0F, c, count);
    }
  }

  /// Computes M such that the columns of `product` (rows x l) times M are orthonormal.
  static void find_orthonormalizer(const Handles& handles, const Buffers& buffers, int rows, int l,
                                   PivotLimits limits, int count) {
    const Float16Matrices product{buffers.product, rows, l};
    multiply(handles, CUBLAS_OP_T, product, product, 1.0F, 0.0F, buffers.s_ll, count);
    orthonormalizer(buffers.s_ll, l, limits, buffers.m_ll, count, handles.stream);
  }

  /// Computes Q as hi + lo.
  void iterate(const Handles& handles, const Sizes& s, const Buffers& buffers,
               const SplitInput& a) const {
    const int m = s.m, n = s.n, l = s.l, count = s.count;
    for (int iteration = 0; iteration < s.iterations; ++iteration) {
      const Float16Matrices q = iteration == 0 ? Float16Matrices(start_nl_.data(), n, l, 0)
                                               : Float16Matrices(buffers.q_nl, n, l);
      multiply_input(handles, CUBLAS_OP_T, a, q, float16_product_scale(n), 0.0F, buffers.product,
                     count);
      find_orthonormalizer(handles, buffers, m, l, {kShift, kMinPivot}, count);
      rotate(buffers.product, m, l, buffers.m_ll, l, true, orthonormal_column_scale(m),
             buffers.z_ml, count, handles.stream);
      multiply_input(handles, CUBLAS_OP_N, a, {buffers.z_ml, m, l}, float16_product_scale(m), 0.0F,
                     buffers.product, count);
      const bool is_last = iteration + 1 == s.iterations;
      const PivotLimits limits =
          is_last ? PivotLimits{kFinalShift, kFinalMinPivot} : PivotLimits{kShift, kMinPivot};
      find_orthonormalizer(handles, buffers, n, l, limits, count);
      const auto to_q = is_last ? static_cast<decltype(&rotate)>(rotate_split) : rotate;
      to_q(buffers.product, n, l, buffers.m_ll, l, true, orthonormal_column_scale(n), buffers.q_nl,
           count, handles.stream);
    }
  }

  RandomStart<__half> start_nl_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_subspace_solver() { return std::make_unique<SubspaceSolver>(); }

}  // namespace eckart::compute::cuda
