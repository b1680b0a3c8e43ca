#pragma once

#include <memory>
#include <vector>

#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"
#include "tests/backend/cuda/bench/libraries.hpp"

namespace eckart::compute::cuda::bench {

struct DeviceSmallMatrixBatch {
  explicit DeviceSmallMatrixBatch(int rows, int cols, int count)
      : hi(std::size_t(rows) * std::size_t(cols) * std::size_t(count)),
        lo(hi.size()),
        scale(std::size_t(rows) * std::size_t(count)) {}
  SmallMatrix get() const { return {hi.get(), lo.get(), scale.get()}; }
  DeviceArray<__half> hi, lo;
  DeviceArray<float> scale;
};

/// A batch in the steps of SubspaceSolver. The constructor runs them once in order. Each step can
/// then be repeated; compute_gram() must run before every find_small_svd().
struct SubspaceBatch {
  SubspaceBatch(const Handles& handles, const KernelCase& c,
                std::shared_ptr<const BenchPixels> pixels);

  void unpack() const;
  void find_orthonormalizer() const;
  void rotate_into(const DeviceArray<__half>& to) const;
  void rotate_split_into_q() const;
  void compute_gram() const;
  void find_small_svd() const;
  void rotate_b() const;
  void reorthonormalize_u() const;
  void project_u() const;
  void reconstruct(const std::vector<int>& ranks) const;

  // of the orthonormalizer in SubspaceSolver
  static constexpr float kShift = 1e-5F, kMinPivot = 1e-6F;

  const Handles handles;
  const std::shared_ptr<const BenchPixels> pixels;
  const int n, l, k, rank, count;  ///< matrices are n x n; k: columns for `rank`
  const DeviceArray<__half> a_t, q_nl, z_nl, product_nl, u_nk,
      v_nk;  ///< q, u and v as hi + lo
  const DeviceArray<float> b_nl, s_ll, work_ll, tile_squared_norms;
  const DeviceArray<double> s64_ll, values;
  const DeviceSmallMatrixBatch upper_ll, m_lk;
  const DeviceArray<int> info, ill_conditioned, all;  ///< all: all planes are selected
  const DeviceArray<std::byte> out;                   ///< for up to three ranks
  const DeviceArray<TileError> errors;

 private:
  std::size_t elements(int rows, int cols) const;
  void orthonormalize_product() const;
  void iterate() const;
};

}  // namespace eckart::compute::cuda::bench
