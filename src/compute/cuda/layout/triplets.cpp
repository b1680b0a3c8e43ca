#include "compute/cuda/layout/triplets.hpp"

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

}  // namespace eckart::compute::cuda
