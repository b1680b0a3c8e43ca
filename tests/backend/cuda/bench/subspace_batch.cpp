#include "tests/backend/cuda/bench/subspace_batch.hpp"

#include <cmath>
#include <utility>

#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/reorthonormalize.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack_float16.hpp"
#include "synth/random.hpp"

namespace eckart::compute::cuda::bench {
namespace {

constexpr int kIterations = 3;
constexpr int kMaxRanks = 3;

/// The same as in SubspaceSolver if n is a power of two and at least 256.
float orthonormal_column_scale(int n) {
  return std::exp2f(std::floor(0.5F * std::log2f(float(n))));
}
float float16_product_scale(int n) { return 256.0F / float(n); }

std::vector<__half> signs(std::size_t count) {
  synth::Random random(1936);
  std::vector<__half> values(count);
  for (__half& value : values) value = __float2half_rn(random.uniform_int(2) ? 1.0F : -1.0F);
  return values;
}

}  // namespace

SubspaceBatch::SubspaceBatch(const Handles& handles_, const KernelCase& c,
                             std::shared_ptr<const BenchPixels> pixels_)
    : handles(handles_),
      pixels(std::move(pixels_)),
      n(c.side),
      l(c.columns()),
      k((c.rank + 15) / 16 * 16),
      rank(c.rank),
      count(c.planes),
      a_t(elements(n, n)),
      q_nl(elements(n, 2 * l)),
      z_nl(elements(n, l)),
      product_nl(elements(n, l)),
      u_nk(elements(n, 2 * k)),
      v_nk(elements(n, 2 * k)),
      b_nl(elements(n, l)),
      s_ll(elements(l, l)),
      work_ll(elements(l, l)),
      tile_squared_norms(elements(project_tile_count(n), k)),
      s64_ll(elements(l, l)),
      values(elements(l + k, 1)),
      upper_ll(l, l, count),
      m_lk(l, k, count),
      info(std::size_t(count)),
      ill_conditioned(std::size_t(count)),
      all(std::vector<int>(std::size_t(count), 1)),
      out(kMaxRanks * pixels->bytes.size()),
      errors(kMaxRanks * elements(reconstruct_tile_count(n, n), 1)) {
  unpack();
  iterate();
  compute_gram();
  find_small_svd();
  rotate_b();
  project_u();
}

std::size_t SubspaceBatch::elements(int rows, int cols) const {
  return std::size_t(rows) * std::size_t(cols) * std::size_t(count);
}

void SubspaceBatch::iterate() const {
  const std::int64_t block = std::int64_t(n) * l;
  const DeviceArray<__half> start(signs(std::size_t(block)));
  const Float16Operand a{a_t.get(), n, n, std::int64_t(n) * n};
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const Float16Operand q = iteration == 0 ? Float16Operand{start.get(), n, l, 0}
                                            : Float16Operand{q_nl.get(), n, l, block};
    multiply(handles, CUBLAS_OP_T, a, q, float16_product_scale(n), 0, product_nl.get(), count);
    orthonormalize_product();
    rotate_into(z_nl);
    multiply(handles, CUBLAS_OP_N, a, {z_nl.get(), n, l, block}, float16_product_scale(n), 0,
             product_nl.get(), count);
    orthonormalize_product();
    if (iteration + 1 < kIterations) rotate_into(q_nl);
  }
  rotate_split_into_q();
  for (const std::int64_t half : {std::int64_t(0), block}) {
    multiply(handles, CUBLAS_OP_T, a, {q_nl.get() + half, n, l, 2 * block},
             1 / orthonormal_column_scale(n), half == 0 ? 0.0F : 1.0F, b_nl.get(), count);
  }
  ECKART_CUDA_CHECK(cudaStreamSynchronize(handles.stream));  // before `start` is freed
}

void SubspaceBatch::orthonormalize_product() const {
  const Float16Operand product{product_nl.get(), n, l, std::int64_t(n) * l};
  multiply(handles, CUBLAS_OP_T, product, product, 1, 0, s_ll.get(), count);
  find_orthonormalizer();
}

void SubspaceBatch::unpack() const {
  unpack_float16(pixels->bytes.get(), pixels->planes.get(), count, n, n, a_t.get(), nullptr,
                 handles.stream);
}

void SubspaceBatch::find_orthonormalizer() const {
  orthonormalizer(s_ll.get(), l, {kShift, kMinPivot}, upper_ll.get(), count, handles.stream);
}

void SubspaceBatch::rotate_into(const DeviceArray<__half>& to) const {
  rotate(product_nl.get(), n, l, upper_ll.get(), l, true, orthonormal_column_scale(n), to.get(),
         count, handles.stream);
}

void SubspaceBatch::rotate_split_into_q() const {
  rotate_split(product_nl.get(), n, l, upper_ll.get(), l, true, orthonormal_column_scale(n),
               q_nl.get(), count, handles.stream);
}

void SubspaceBatch::compute_gram() const {
  gram_float64(b_nl.get(), n, l, s64_ll.get(), count, handles.stream);
}

void SubspaceBatch::find_small_svd() const {
  small_svd(s64_ll.get(), l, rank, k, values.get(), l + k, m_lk.get(), work_ll.get(), info.get(),
            ill_conditioned.get(), count, handles.stream);
}

void SubspaceBatch::rotate_b() const {
  rotate_split(b_nl.get(), n, l, m_lk.get(), k, false, orthonormal_column_scale(n), u_nk.get(),
               count, handles.stream);
}

void SubspaceBatch::reorthonormalize_u() const {
  reorthonormalize(u_nk.get(), n, k, orthonormal_column_scale(n), all.get(), work_ll.get(), count,
                   handles.stream);
}

void SubspaceBatch::project_u() const {
  project(a_t.get(), nullptr, u_nk.get(), n, n, k, 1 / orthonormal_column_scale(n), v_nk.get(),
          tile_squared_norms.get(), values.get() + l, l + k, count, handles.stream);
}

void SubspaceBatch::reconstruct(const std::vector<int>& ranks) const {
  reconstruct_float16(pixels->bytes.get(), pixels->planes.get(), count, n, n, ranks, nullptr,
                      {u_nk.get(), v_nk.get(), k, 1 / orthonormal_column_scale(n)}, out.get(),
                      pixels->bytes.size(), errors.get(), elements(reconstruct_tile_count(n, n), 1),
                      handles.stream);
}

}  // namespace eckart::compute::cuda::bench
