#include "compute/cuda/layout/triplets.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace eckart::compute::cuda {

eckart::Factors read_triplets(const std::byte* triplets, const TripletLayout& layout,
                              const PlaneLayout& plane, int rank, double squared_norm) {
  const auto* s = reinterpret_cast<const double*>(triplets);
  const auto* u = reinterpret_cast<const float*>(triplets + layout.left_offset());
  const auto* v = reinterpret_cast<const float*>(triplets + layout.right_offset());
  if (plane.rows < plane.cols) std::swap(u, v);
  const auto rows = std::size_t(plane.rows), cols = std::size_t(plane.cols),
             count = std::size_t(rank);
  eckart::Factors factors{.rows = plane.rows,
                          .cols = plane.cols,
                          .s = {s, s + count},
                          .u = std::vector<float>(rows * count),
                          .vt = {v, v + cols * count},
                          .squared_norm = squared_norm / (plane.scale * plane.scale)};
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t i = 0; i < count; ++i) factors.u[row * count + i] = u[i * rows + row];
  return factors;
}

void match_residual(eckart::Factors& factors, double residual) {
  const double kept =
      std::inner_product(factors.s.begin(), factors.s.end(), factors.s.begin(), 0.0);
  if (kept == 0) return;
  const double scale = std::sqrt(std::max(0.0, factors.squared_norm - residual) / kept);
  for (double& value : factors.s) value *= scale;
}

}  // namespace eckart::compute::cuda
