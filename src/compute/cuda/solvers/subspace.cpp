#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/reconstruct_halves.hpp"
#include "compute/cuda/kernels/reorthonormalise.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack_halves.hpp"
#include "compute/cuda/layout/subspace_sizes.hpp"
#include "compute/cuda/profiler_range.hpp"
#include "compute/cuda/solvers/random_start.hpp"
#include "compute/cuda/solvers/solver.hpp"

namespace eckart::cuda {
namespace {

// What orthonormalizer() adds: enough for the rounding of float32, and at last no more than that.
constexpr float kShift = 1e-5F;
constexpr float kLastShift = 1e-6F;

/// A batch of matrices, column-major, `stride` elements apart.
struct Halves {
  const __half* data;
  int rows, cols;
  std::int64_t stride;

  Halves(const __half* data_, int rows_, int cols_)
      : Halves(data_, rows_, cols_, std::int64_t(rows_) * cols_) {}
  Halves(const __half* data_, int rows_, int cols_, std::int64_t stride_)
      : data(data_), rows(rows_), cols(cols_), stride(stride_) {}
};

/// C = alpha op(A) B + beta C on the tensor cores, added up in float32.
template <class Result>
void multiply(const Handles& handles, cublasOperation_t op, const Halves& a, const Halves& b,
              float alpha, float beta, Result* c, int count) {
  const bool transposed = op == CUBLAS_OP_T;
  const int rows = transposed ? a.cols : a.rows, inner = transposed ? a.rows : a.cols;
  ECKART_CUDA_CHECK(cublasGemmStridedBatchedEx(
      handles.blas, op, CUBLAS_OP_N, rows, b.cols, inner, &alpha, a.data, CUDA_R_16F, a.rows,
      a.stride, b.data, CUDA_R_16F, b.rows, b.stride, &beta, c,
      sizeof(Result) == sizeof(__half) ? CUDA_R_16F : CUDA_R_32F, rows, std::int64_t(rows) * b.cols,
      count, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT));
}

/// Block subspace iteration on A with l > k columns, both sides orthonormalised in every round:
/// Z = orth(A Q), Q = orth(A' Z). Pixels are exact in float16 (16 bits in two of them), and what
/// rounding does to Z and Q is undone by the next round, so all products are float16 with float32
/// sums. Then B = A Q, its left singular vectors U_k (Gram matrix in float64, Jacobi), V = A' U_k,
/// and A_k = U_k V', U and V in two halves each. RitzValues says how B's singular values and the
/// lengths of V's columns bound what has been missed.
class SubspaceSolver : public BatchSolver {
 public:
  Spectrum spectrum(const Problem& problem) const override {
    const Sizes sizes(problem);
    return {ValueOrder::ritz, sizes.l, sizes.k, Precision::halves};
  }

  std::size_t workspace_bytes(const Handles& handles, const Problem& problem) override {
    const Sizes sizes(problem);
    start_nl_.reserve(handles.stream, sizes.n, sizes.l);
    Carver carver(nullptr);
    carve(carver, sizes);
    return carver.used();
  }

  void solve(const Handles& handles, const Problem& problem, const DeviceBatch& batch) override {
    const Sizes sizes(problem);
    const int m = sizes.m, n = sizes.n, l = sizes.l, k = sizes.k, count = sizes.count;
    Carver carver(batch.workspace);
    const Parts parts = carve(carver, sizes);
    __half* lo_t = batch.sixteen_bits ? parts.a_lo_t : nullptr;
    const ProfilerRange phase("unpack");
    unpack_halves(batch.pixels, batch.planes, count, m, n, parts.a_hi_t, lo_t, handles.stream);
    const Matrix a{{parts.a_hi_t, n, m}, lo_t};

    phase.next("iterate");
    iterate(handles, sizes, parts, a);

    phase.next("factor");
    // B = A Q and its left singular vectors U = B M
    const Spectrum spectrum = this->spectrum(problem);
    const std::int64_t block = std::int64_t(n) * l;
    times(handles, CUBLAS_OP_T, a, {parts.q_nl, n, l, 2 * block}, 1 / column_scale(n), 0.0F,
          parts.b_ml, count);
    times(handles, CUBLAS_OP_T, a, {parts.q_nl + block, n, l, 2 * block}, 1 / column_scale(n), 1.0F,
          parts.b_ml, count);
    gram_float64(parts.b_ml, m, l, parts.s64_ll, count, handles.stream);
    small_svd(parts.s64_ll, l, problem.rank(), k, batch.values, spectrum.values(), parts.m_ll,
              parts.s_ll, batch.info, parts.weak, count, handles.stream);
    rotate_split(parts.b_ml, m, l, parts.m_ll, k, false, column_scale(m), parts.u_mk, count,
                 handles.stream);
    reorthonormalise(parts.u_mk, m, k, column_scale(m), parts.weak, parts.s_ll, count,
                     handles.stream);
    project(a.hi_t.data, a.lo_t, parts.u_mk, m, n, k, 1 / column_scale(m), parts.v_nk,
            parts.tile_lengths, batch.values + l, spectrum.values(), count, handles.stream);
    phase.next("reconstruct");
    reconstruct_halves(batch.pixels, batch.planes, count, m, n, problem.ranks,
                       {parts.u_mk, parts.v_nk, k, 1 / column_scale(m)}, batch.outputs,
                       batch.output_step, batch.errors,
                       std::size_t(reconstruct_tiles(m, n)) * std::size_t(count), handles.stream);
  }

 private:
  using Sizes = SubspaceSizes;

  /// A transposed, hi + lo.
  struct Matrix {
    Halves hi_t;
    const __half* lo_t;  ///< null where it would be zero
  };

  struct Parts : SubspaceParts<__half> {
    SmallMatrix m_ll;
  };
  static Parts carve(Carver& carver, const Sizes& sizes) {
    const auto parts = SubspaceParts<__half>::carve(carver, sizes);
    return {parts, {parts.m_hi, parts.m_lo, parts.m_scale}};
  }

  /// c = alpha A x (op T of A transposed) or alpha A'x (op N), added to beta c.
  template <class Result>
  static void times(const Handles& handles, cublasOperation_t op, const Matrix& a, const Halves& x,
                    float alpha, float beta, Result* c, int count) {
    multiply(handles, op, a.hi_t, x, alpha, beta, c, count);
    if (a.lo_t) {
      multiply(handles, op, {a.lo_t, a.hi_t.rows, a.hi_t.cols}, x, alpha, 1.0F, c, count);
    }
  }

  /// M for which the columns of `product` (rows x l) times M are orthonormal.
  static void orthonormalise(const Handles& handles, const Parts& parts, int rows, int l,
                             float shift, int count) {
    const Halves product{parts.product, rows, l};
    multiply(handles, CUBLAS_OP_T, product, product, 1.0F, 0.0F, parts.s_ll, count);
    orthonormalizer(parts.s_ll, l, shift, parts.m_ll, count, handles.stream);
  }

  /// Leaves Q in two halves.
  void iterate(const Handles& handles, const Sizes& s, const Parts& parts, const Matrix& a) const {
    const int m = s.m, n = s.n, l = s.l, count = s.count;
    for (int round = 0; round < s.rounds; ++round) {
      const Halves q = round == 0 ? Halves(start_nl_.data(), n, l, 0) : Halves(parts.q_nl, n, l);
      times(handles, CUBLAS_OP_T, a, q, product_scale(n), 0.0F, parts.product, count);
      orthonormalise(handles, parts, m, l, kShift, count);
      rotate(parts.product, m, l, parts.m_ll, l, true, column_scale(m), parts.z_ml, count,
             handles.stream);
      times(handles, CUBLAS_OP_N, a, {parts.z_ml, m, l}, product_scale(m), 0.0F, parts.product,
            count);
      const bool last = round + 1 == s.rounds;
      orthonormalise(handles, parts, n, l, last ? kLastShift : kShift, count);
      const auto to_q = last ? static_cast<decltype(&rotate)>(rotate_split) : rotate;
      to_q(parts.product, n, l, parts.m_ll, l, true, column_scale(n), parts.q_nl, count,
           handles.stream);
    }
  }

  RandomStart<__half> start_nl_;
};

}  // namespace

std::unique_ptr<BatchSolver> make_subspace_solver() { return std::make_unique<SubspaceSolver>(); }

}  // namespace eckart::cuda
