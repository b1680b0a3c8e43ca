// The float64 kernels with the operands that they have in Float64SubspaceSolver. The batches are as
// large as those of the first solver. Recomputed parts are at most an eighth of that.
#include <utility>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "synth/random.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"
#include "tests/backend/cuda/bench/libraries.hpp"

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kIterations = 2;

std::vector<double> signs(std::size_t count) {
  synth::Random random(1936);
  std::vector<double> values(count);
  for (double& value : values) value = random.uniform_int(2) ? 1 : -1;
  return values;
}

/// A batch in the steps of Float64SubspaceSolver. The constructor runs them for one block of
/// columns.
struct Float64Batch {
  Float64Batch(const Handles& handles, const KernelCase& c,
               std::shared_ptr<const BenchPixels> pixels);

  void unpack() const {
    cuda::unpack(pixels->bytes.get(), pixels->planes.get(), count, n, n, a_t.get(), handles.stream);
  }
  void restore_gram() const { copy(handles, gram_ll, s_ll); }
  void invert_cholesky() const { inverse_cholesky(s_ll.get(), l, count, handles.stream); }
  void compute_column_norms() const {
    column_norms(product_nl.get(), n, l, values.get(), count, handles.stream);
  }
  void restore_vectors() const { copy(handles, eigen.vectors, w_ll); }
  void whiten() const {
    cuda::whiten(w_ll.get(), eigen.values.get(), l, k, values.get(), l + k, count, handles.stream);
  }
  void measure() const {
    squared_column_norms(v_nk.get(), n, k, values.get() + l, l + k, count, handles.stream);
  }
  void reconstruct() const;

  const Handles handles;
  const std::shared_ptr<const BenchPixels> pixels;
  const int n, l, k, count;  ///< matrices are n x n of rank k
  const DeviceArray<double> a_t, q_nl, product_nl, s_ll, w_ll, u_nk, v_nk, values;
  const DeviceArray<double> gram_ll;  ///< copied to s_ll, which invert_cholesky() overwrites
  LibraryEigensolver eigen;
  const DeviceArray<std::byte> out;
  const DeviceArray<TileError> errors;

 private:
  std::size_t elements(int rows, int cols) const {
    return std::size_t(rows) * std::size_t(cols) * std::size_t(count);
  }
  static Operand block(cublasOperation_t op, const double* data, int rows, int cols) {
    return {op, data, rows, std::int64_t(rows) * cols};
  }
  void multiply_product(double* s) const;
  void orthonormalize_product() const;
};

Float64Batch::Float64Batch(const Handles& handles_, const KernelCase& c,
                           std::shared_ptr<const BenchPixels> pixels_)
    : handles(handles_),
      pixels(std::move(pixels_)),
      n(c.side),
      l(c.columns()),
      k(c.rank),
      count(c.planes),
      a_t(elements(n, n)),
      q_nl(elements(n, l)),
      product_nl(elements(n, l)),
      s_ll(elements(l, l)),
      w_ll(elements(l, l)),
      u_nk(elements(n, k)),
      v_nk(elements(n, k)),
      values(elements(l + k, 1)),
      gram_ll(elements(l, l)),
      eigen(handles, l, count),
      out(pixels->bytes.size()),
      errors(elements(reconstruct_tile_count(n, n), 1)) {
  constexpr auto kPlain = CUBLAS_OP_N, kTransposed = CUBLAS_OP_T;
  const Operand a = block(kTransposed, a_t.get(), n, n),
                a_transposed = block(kPlain, a_t.get(), n, n);
  const Operand q = block(kPlain, q_nl.get(), n, l);
  const DeviceArray<double> start(signs(std::size_t(n) * std::size_t(l)));
  unpack();
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    multiply(handles, n, l, n, a, iteration == 0 ? Operand{kPlain, start.get(), n, 0} : q,
             product_nl.get(), count);
    orthonormalize_product();
    multiply(handles, n, l, n, a_transposed, q, product_nl.get(), count);
    orthonormalize_product();
  }
  multiply(handles, n, l, n, a, q, product_nl.get(), count);
  multiply_product(eigen.matrices.get());
  eigen.prepare();
  eigen.solve();
  restore_vectors();
  whiten();
  const Operand leading{kPlain, w_ll.get() + std::int64_t(l - k) * l, l, std::int64_t(l) * l};
  multiply(handles, n, k, l, block(kPlain, product_nl.get(), n, l), leading, u_nk.get(), count);
  multiply(handles, n, k, n, a_transposed, block(kPlain, u_nk.get(), n, k), v_nk.get(), count);
  ECKART_CUDA_CHECK(cudaStreamSynchronize(handles.stream));  // before `start` is freed
}

void Float64Batch::multiply_product(double* s) const {
  multiply(handles, l, l, n, block(CUBLAS_OP_T, product_nl.get(), n, l),
           block(CUBLAS_OP_N, product_nl.get(), n, l), s, count);
}

void Float64Batch::orthonormalize_product() const {
  multiply_product(gram_ll.get());
  restore_gram();
  invert_cholesky();
  multiply(handles, n, l, l, block(CUBLAS_OP_N, product_nl.get(), n, l),
           block(CUBLAS_OP_N, s_ll.get(), l, l), q_nl.get(), count);
}

void Float64Batch::reconstruct() const {
  const Factors factors{.p_mk = u_nk.get() + std::int64_t(k - 1) * n,
                        .v_nk = v_nk.get() + std::int64_t(k - 1) * n,
                        .p_plane = std::int64_t(n) * k,
                        .v_plane = std::int64_t(n) * k,
                        .p_column = -n,
                        .v_column = -n};
  cuda::reconstruct(pixels->bytes.get(), pixels->planes.get(), count, n, n, k, nullptr, factors,
                    out.get(), errors.get(), handles.stream);
}

LibraryKernel inverse_cholesky_by_library(const Float64Batch& batch) {
  const auto inverses = std::make_shared<const LibraryCholeskyInverse<double>>(
      batch.handles, batch.gram_ll.copy_to_host(), batch.l, batch.count);
  return {inverses->functions(),
          {[inverses] { inverses->solve(); }, [inverses] { inverses->prepare(); }}};
}

/// KernelWork per matrix. Names are those of Float64Batch.
struct Float64WorkModel {
  double n, l, k;

  /// Reads pixels, writes doubles.
  KernelWork unpack() const { return {n * n + 8 * n * n}; }
  /// Reads a triangle, writes a square. l^3 / 3 flops for the factor and l^3 / 3 for its inverse.
  KernelWork inverse_cholesky() const {
    return {8 * l * (l + 1) / 2 + 8 * l * l, 2 * l * l * l / 3, RooflineBound::float64};
  }
  /// Reads and writes k columns and l values.
  KernelWork whiten() const { return {16 * l * k + 16 * l, l * k, RooflineBound::float64}; }
  KernelWork squared_column_norms() const {
    return {8 * n * k + 8 * k, 2 * n * k, RooflineBound::float64};
  }
  KernelWork column_norms() const { return {8 * n * l + 8 * l, 2 * n * l, RooflineBound::float64}; }
  /// Reads pixels and factors, writes pixels.
  KernelWork reconstruct() const {
    return {2 * n * n + 16 * n * k, 2 * n * n * k, RooflineBound::float64};
  }
};

}  // namespace

std::vector<BenchKernel> float64_kernels(const Handles& handles, const KernelCase& c,
                                         const std::shared_ptr<const BenchPixels>& pixels) {
  const auto batch = std::make_shared<const Float64Batch>(handles, c, pixels);
  const Float64WorkModel one{double(batch->n), double(batch->l), double(batch->k)};
  const int count = batch->count;
  return {
      {"unpack", count * one.unpack(), {[batch] { batch->unpack(); }}},
      {"inverse_cholesky",
       count * one.inverse_cholesky(),
       {[batch] { batch->invert_cholesky(); }, [batch] { batch->restore_gram(); }},
       inverse_cholesky_by_library(*batch)},
      {"column_norms", count * one.column_norms(), {[batch] { batch->compute_column_norms(); }}},
      {"whiten",
       count * one.whiten(),
       {[batch] { batch->whiten(); }, [batch] { batch->restore_vectors(); }}},
      {"squared_column_norms", count * one.squared_column_norms(), {[batch] { batch->measure(); }}},
      {"reconstruct", count * one.reconstruct(), {[batch] { batch->reconstruct(); }}},
  };
}

}  // namespace eckart::compute::cuda::bench
