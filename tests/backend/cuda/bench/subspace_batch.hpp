#pragma once

#include <memory>
#include <vector>

#include "compute/cuda/kernels/reconstruct_halves.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "tests/backend/cuda/bench/kernel.hpp"
#include "tests/backend/cuda/bench/libraries.hpp"

namespace eckart::cuda::bench {

struct SmallOnDevice {
  explicit SmallOnDevice(int rows, int cols, int count)
      : hi(std::size_t(rows) * std::size_t(cols) * std::size_t(count)),
        lo(hi.size()),
        scale(std::size_t(rows) * std::size_t(count)) {}
  SmallMatrix get() const { return {hi.get(), lo.get(), scale.get()}; }
  OnDevice<__half> hi, lo;
  OnDevice<float> scale;
};

/// A batch on its way through SubspaceSolver, each step as it is there; the constructor takes them
/// one after the other. Each can then be taken again and again; find_small_svd() wants multiply_b()
/// before it.
struct SubspaceBatch {
  SubspaceBatch(const Handles& handles, const Case& c, std::shared_ptr<const Pixels> pixels);

  void unpack() const;
  void find_orthonormalizer() const;
  void rotate_into(const OnDevice<__half>& to) const;
  void rotate_into_halves() const;
  void multiply_b() const;
  void find_small_svd() const;
  void rotate_b() const;
  void reorthonormalise_u() const;
  void project_u() const;
  void reconstruct(const std::vector<int>& ranks) const;

  static constexpr float kShift = 1e-5F;  ///< that SubspaceSolver gives the orthonormalizer

  const Handles handles;
  const std::shared_ptr<const Pixels> pixels;
  const int n, l, k, rank, count;  ///< matrices are n x n; k: columns for `rank`
  const OnDevice<__half> a_t, q_nl, z_nl, product_nl, u_nk, v_nk;  ///< q, u and v in two halves
  const OnDevice<float> b_nl, s_ll, work_ll, tile_lengths;
  const OnDevice<double> s64_ll, values;
  const SmallOnDevice upper_ll, m_lk;
  const OnDevice<int> info, weak, all;  ///< all: every plane is wanted
  const OnDevice<std::byte> out;        ///< for up to three ranks
  const OnDevice<TileError> errors;

 private:
  std::size_t elements(int rows, int cols) const;
  void orthonormalize_product() const;
  void iterate() const;
};

}  // namespace eckart::cuda::bench
