#pragma once

#include <cstddef>

#include "compute/cuda/layout/host_device.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "core/factors.hpp"

namespace eckart::compute::cuda {

/// Where the normalized singular triplets of a batch are, plane after plane: s in levels, then the
/// left and the right vectors of A, which has the sides m >= n of the plane. The vectors are
/// columns of m and n numbers without padding, the one of the largest singular value first.
struct TripletLayout {
  int m, n;  ///< the largest sides of a plane
  int rank;  ///< triplets that there is room for

  ECKART_HOST_DEVICE std::size_t left_offset() const { return std::size_t(rank) * sizeof(double); }
  ECKART_HOST_DEVICE std::size_t right_offset() const {
    return left_offset() + std::size_t(rank) * std::size_t(m) * sizeof(float);
  }
  /// A multiple of the size of a double.
  ECKART_HOST_DEVICE std::size_t plane_bytes() const {
    const std::size_t end = right_offset() + std::size_t(rank) * std::size_t(n) * sizeof(float);
    return (end + sizeof(double) - 1) / sizeof(double) * sizeof(double);
  }
};

/// The first `rank` triplets of a plane, for the plane as it is in its image. `triplets` is the
/// beginning of the plane. `squared_norm` is that of the samples multiplied by their scale.
eckart::Factors read_triplets(const std::byte* triplets, const TripletLayout& layout,
                              const PlaneLayout& plane, int rank, double squared_norm);

/// Multiplies s by one number, so that ||A||_F^2 - sum s_i^2 is `residual`, the measured squared
/// error of the product of the factors, in levels^2. Sums of float16 products truncate, which makes
/// all s too small by a share of about 5e-7.
void match_residual(eckart::Factors& factors, double residual);

}  // namespace eckart::compute::cuda
