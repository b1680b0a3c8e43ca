#include "tests/backend/cuda/bench/subspace_batch.hpp"

#include <cmath>
#include <utility>

#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/reorthonormalise.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "compute/cuda/kernels/unpack_halves.hpp"
#include "core/random.hpp"

namespace eckart::cuda::bench {
namespace {

constexpr int kRounds = 3;
constexpr int kMostRanks = 3;

/// As in SubspaceSolver, for n a power of two and at least 256.
float column_scale(int n) { return std::exp2f(std::floor(0.5F * std::log2f(float(n)))); }
float product_scale(int n) { return 256.0F / float(n); }

std::vector<__half> signs(std::size_t count) {
  Random random(1936);
  std::vector<__half> values(count);
  for (__half& value : values) value = __float2half_rn(random.below(2) ? 1.0F : -1.0F);
  return values;
}

}  // namespace

SubspaceBatch::SubspaceBatch(const Handles& handles_, const Case& c,
                             std::shared_ptr<const Pixels> pixels_)
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
      tile_lengths(elements(project_tiles(n), k)),
      s64_ll(elements(l, l)),
      values(elements(l + k, 1)),
      upper_ll(l, l, count),
      m_lk(l, k, count),
      info(std::size_t(count)),
      weak(std::size_t(count)),
      all(std::vector<int>(std::size_t(count), 1)),
      out(kMostRanks * pixels->bytes.size()),
      errors(kMostRanks * elements(reconstruct_tiles(n, n), 1)) {
  unpack();
  iterate();
  multiply_b();
  find_small_svd();
  rotate_b();
  project_u();
}

std::size_t SubspaceBatch::elements(int rows, int cols) const {
  return std::size_t(rows) * std::size_t(cols) * std::size_t(count);
}

void SubspaceBatch::iterate() const {
  const std::int64_t block = std::int64_t(n) * l;
  const OnDevice<__half> start(signs(std::size_t(block)));
  const Halves a{a_t.get(), n, n, std::int64_t(n) * n};
  for (int round = 0; round < kRounds; ++round) {
    const Halves q = round == 0 ? Halves{start.get(), n, l, 0} : Halves{q_nl.get(), n, l, block};
    multiply(handles, CUBLAS_OP_T, a, q, product_scale(n), 0, product_nl.get(), count);
    orthonormalize_product();
    rotate_into(z_nl);
    multiply(handles, CUBLAS_OP_N, a, {z_nl.get(), n, l, block}, product_scale(n), 0,
             product_nl.get(), count);
    orthonormalize_product();
    if (round + 1 < kRounds) rotate_into(q_nl);
  }
  rotate_into_halves();
  for (const std::int64_t half : {std::int64_t(0), block}) {
    multiply(handles, CUBLAS_OP_T, a, {q_nl.get() + half, n, l, 2 * block}, 1 / column_scale(n),
             half == 0 ? 0.0F : 1.0F, b_nl.get(), count);
  }
  ECKART_CUDA_CHECK(cudaStreamSynchronize(handles.stream));  // before `start` goes
}

void SubspaceBatch::orthonormalize_product() const {
  const Halves product{product_nl.get(), n, l, std::int64_t(n) * l};
  multiply(handles, CUBLAS_OP_T, product, product, 1, 0, s_ll.get(), count);
  find_orthonormalizer();
}

void SubspaceBatch::unpack() const {
  unpack_halves(pixels->bytes.get(), pixels->planes.get(), count, n, n, a_t.get(), nullptr,
                handles.stream);
}

void SubspaceBatch::find_orthonormalizer() const {
  orthonormalizer(s_ll.get(), l, kShift, upper_ll.get(), count, handles.stream);
}

void SubspaceBatch::rotate_into(const OnDevice<__half>& to) const {
  rotate(product_nl.get(), n, l, upper_ll.get(), l, true, column_scale(n), to.get(), count,
         handles.stream);
}

void SubspaceBatch::rotate_into_halves() const {
  rotate_split(product_nl.get(), n, l, upper_ll.get(), l, true, column_scale(n), q_nl.get(), count,
               handles.stream);
}

void SubspaceBatch::multiply_b() const {
  gram_float64(b_nl.get(), n, l, s64_ll.get(), count, handles.stream);
}

void SubspaceBatch::find_small_svd() const {
  small_svd(s64_ll.get(), l, rank, k, values.get(), l + k, m_lk.get(), work_ll.get(), info.get(),
            weak.get(), count, handles.stream);
}

void SubspaceBatch::rotate_b() const {
  rotate_split(b_nl.get(), n, l, m_lk.get(), k, false, column_scale(n), u_nk.get(), count,
               handles.stream);
}

void SubspaceBatch::reorthonormalise_u() const {
  reorthonormalise(u_nk.get(), n, k, column_scale(n), all.get(), work_ll.get(), count,
                   handles.stream);
}

void SubspaceBatch::project_u() const {
  project(a_t.get(), nullptr, u_nk.get(), n, n, k, 1 / column_scale(n), v_nk.get(),
          tile_lengths.get(), values.get() + l, l + k, count, handles.stream);
}

void SubspaceBatch::reconstruct(const std::vector<int>& ranks) const {
  reconstruct_halves(pixels->bytes.get(), pixels->planes.get(), count, n, n, ranks,
                     {u_nk.get(), v_nk.get(), k, 1 / column_scale(n)}, out.get(),
                     pixels->bytes.size(), errors.get(), elements(reconstruct_tiles(n, n), 1),
                     handles.stream);
}

}  // namespace eckart::cuda::bench
