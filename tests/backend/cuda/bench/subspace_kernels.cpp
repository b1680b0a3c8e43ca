// Work models, here and for float64: a float16 has 2 bytes, a triangle has l (l + 1) / 2 elements,
// additions and multiplications are one flop each. Data of a few numbers per plane is ignored.
#include <utility>

#include "tests/backend/cuda/bench/subspace_batch.hpp"

namespace eckart::compute::cuda::bench {
namespace {

using SubspaceBatchPtr = std::shared_ptr<const SubspaceBatch>;

/// cuBLAS with one float16 matrix and without the scale of M's rows. It is less precise and
/// multiplies the whole square.
LibraryKernel rotate_by_library(const SubspaceBatchPtr& batch) {
  return {"cublasGemmStridedBatchedEx, M in one float16 matrix", {[batch] {
            const std::int64_t block = std::int64_t(batch->n) * batch->l;
            multiply(
                batch->handles, CUBLAS_OP_N, {batch->product_nl.get(), batch->n, batch->l, block},
                {batch->upper_ll.hi.get(), batch->l, batch->l, std::int64_t(batch->l) * batch->l},
                0x1p-10F, 0, batch->z_nl.get(), batch->count);
          }}};
}

/// A' times hi and A' times lo, summed in float32. The result is not split, and its norms are not
/// computed.
LibraryKernel project_by_library(const SubspaceBatchPtr& batch) {
  const auto v = std::make_shared<const DeviceArray<float>>(batch->v_nk.size() / 2);
  return {"cublasGemmStridedBatchedEx twice, V in float32", {[batch, v] {
            const int n = batch->n, k = batch->k;
            const std::int64_t block = std::int64_t(n) * k;
            for (const std::int64_t half : {block, std::int64_t(0)}) {
              multiply(batch->handles, CUBLAS_OP_N, {batch->a_t.get(), n, n, std::int64_t(n) * n},
                       {batch->u_nk.get() + half, n, k, 2 * block}, 1, half == 0 ? 1.0F : 0.0F,
                       v->get(), batch->count);
            }
          }}};
}

/// Factors the same matrices as orthonormalizer(), with its shift.
LibraryKernel orthonormalizer_by_library(const SubspaceBatchPtr& batch) {
  std::vector<float> s = batch->s_ll.copy_to_host();
  const auto l = std::size_t(batch->l);
  for (std::size_t i = 0; i < l * std::size_t(batch->count); ++i)
    s[i * l + i % l] *= 1 + SubspaceBatch::kShift;
  const auto inverses = std::make_shared<const LibraryCholeskyInverse<float>>(
      batch->handles, s, batch->l, batch->count);
  return {inverses->functions(),
          {[inverses] { inverses->solve(); }, [inverses] { inverses->prepare(); }}};
}

/// B'B in float64 with cuBLAS, for a B that is already float64, and the eigenproblems of B'B.
std::pair<LibraryKernel, LibraryKernel> gram_and_svd_by_libraries(const SubspaceBatchPtr& batch) {
  const std::vector<float> b_floats = batch->b_nl.copy_to_host();
  const auto b = std::make_shared<const DeviceArray<double>>(
      std::vector<double>(b_floats.begin(), b_floats.end()));
  const auto eigen = std::make_shared<LibraryEigensolver>(batch->handles, batch->l, batch->count);
  const auto gram = [batch, b, eigen] {
    const int n = batch->n, l = batch->l;
    const std::int64_t block = std::int64_t(n) * l;
    cuda::multiply(batch->handles, l, l, n, {CUBLAS_OP_T, b->get(), n, block},
                   {CUBLAS_OP_N, b->get(), n, block}, eigen->matrices.get(), batch->count);
  };
  gram();
  return {{"cublasDgemmStridedBatched, B in float64", {gram}},
          {"cusolverDnXsyevBatched in float64",
           {[eigen] { eigen->solve(); }, [eigen] { eigen->prepare(); }}}};
}

/// KernelWork per matrix. n, l and k are those of SubspaceBatch, r is its rank.
struct SubspaceWorkModel {
  double n, l, k, r;

  double triangle() const { return l * (l + 1) / 2; }
  /// Reads pixels, writes float16.
  KernelWork unpack_float16() const { return {n * n + 2 * n * n}; }
  /// Reads a triangle of floats, writes hi, lo and the scale of M. l^3 / 3 flops for the factor and
  /// l^3 / 3 for its inverse.
  KernelWork orthonormalizer() const {
    return {4 * triangle() + 4 * l * l + 4 * l, 2 * l * l * l / 3, RooflineBound::float32};
  }
  /// Reads the columns, and the triangle of M as hi + lo. Two products with a triangle.
  KernelWork rotate(double bytes_written) const {
    return {2 * n * l + 4 * triangle() + 4 * l + bytes_written * n * l, 2 * 2 * n * triangle(),
            RooflineBound::tensor};
  }
  /// Reads B in float32 and M as hi + lo, writes hi + lo. Three float16 products.
  KernelWork rotate_b() const {
    return {4 * n * l + 4 * l * k + 4 * l + 4 * n * k, 3 * 2 * n * l * k, RooflineBound::tensor};
  }
  /// Reads B in float32, writes a triangle of doubles.
  KernelWork gram_float64() const {
    return {4 * n * l + 8 * triangle(), 2 * n * triangle(), RooflineBound::float64};
  }
  /// Reads a triangle of doubles, writes values and M as hi + lo. Jacobi: five sweeps, the minimum
  /// for images, rotate l (l - 1) / 2 pairs each. Two columns pass through shared memory for four
  /// pairs, and a pair takes 6 flops per row. Then R^-1 times r columns. The Cholesky factorization
  /// in float64 is not counted.
  KernelWork small_svd() const {
    constexpr double kSweeps = 5;
    const double pairs = l * (l - 1) / 2;
    return {8 * triangle() + 8 * l + 4 * l * k + 4 * l,
            kSweeps * pairs * 6 * l + 2 * triangle() * r, RooflineBound::float32,
            kSweeps * pairs * 4 * l};
  }
  /// Reads and writes U as hi + lo. Products U'U and U E.
  KernelWork reorthonormalize() const { return {8 * n * k, 4 * n * k * k, RooflineBound::float32}; }
  /// Reads A, and U as hi + lo, writes V as hi + lo. Two products.
  KernelWork project() const {
    return {2 * n * n + 8 * n * k + 8 * k, 2 * 2 * n * n * k, RooflineBound::tensor};
  }
  /// Reads pixels, and r columns of U and V as hi + lo, writes the pixels of each rank. Three
  /// products for the largest rank, which contain those of the others.
  KernelWork reconstruct_float16(int ranks) const {
    return {n * n + 8 * n * r + ranks * n * n, 3 * 2 * n * n * r, RooflineBound::tensor};
  }
};

}  // namespace

std::vector<BenchKernel> subspace_kernels(const Handles& handles, const KernelCase& c,
                                          const std::shared_ptr<const BenchPixels>& pixels) {
  const auto batch = std::make_shared<const SubspaceBatch>(handles, c, pixels);
  const SubspaceWorkModel one{double(batch->n), double(batch->l), double(batch->k),
                              double(batch->rank)};
  const int count = batch->count, r = batch->rank;
  auto [gram, svd] = gram_and_svd_by_libraries(batch);
  return {
      {"unpack_float16", count * one.unpack_float16(), {[batch] { batch->unpack(); }}},
      {"orthonormalizer",
       count * one.orthonormalizer(),
       {[batch] { batch->find_orthonormalizer(); }},
       orthonormalizer_by_library(batch)},
      {"rotate",
       count * one.rotate(2),
       {[batch] { batch->rotate_into(batch->z_nl); }},
       rotate_by_library(batch)},
      {"rotate_split", count * one.rotate(4), {[batch] { batch->rotate_split_into_q(); }}},
      {"gram_float64",
       count * one.gram_float64(),
       {[batch] { batch->compute_gram(); }},
       std::move(gram)},
      {"small_svd",
       count * one.small_svd(),
       {[batch] { batch->find_small_svd(); }, [batch] { batch->compute_gram(); }},
       std::move(svd)},
      {"rotate_split_float32", count * one.rotate_b(), {[batch] { batch->rotate_b(); }}},
      {"reorthonormalize", count * one.reorthonormalize(), {[batch] {
         batch->reorthonormalize_u();
       }}},
      {"project",
       count * one.project(),
       {[batch] { batch->project_u(); }},
       project_by_library(batch)},
      {"reconstruct_float16", count * one.reconstruct_float16(1), {[batch, r] {
         batch->reconstruct({r});
       }}},
      {"reconstruct_float16_3_ranks", count * one.reconstruct_float16(3), {[batch, r] {
         batch->reconstruct({r / 4, r / 2, r});
       }}},
  };
}

}  // namespace eckart::compute::cuda::bench
