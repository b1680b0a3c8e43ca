#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "codec/factors_file.hpp"
#include "core/factors.hpp"

namespace eckart::test {

/// The factors of a matrix of this shape: unit vectors, and s = rank, rank - 1, ..., 1.
inline Factors make_factors(int rows, int cols, int rank) {
  Factors factors{.rows = rows, .cols = cols, .squared_norm = 1};
  factors.u.resize(std::size_t(rows) * std::size_t(rank));
  factors.vt.resize(std::size_t(rank) * std::size_t(cols));
  for (int i = 0; i < rank; ++i) {
    factors.s.push_back(rank - i);
    factors.squared_norm += factors.s.back() * factors.s.back();
    factors.u[std::size_t((i % rows) * rank + i)] = 1;
    factors.vt[std::size_t(i * cols + i % cols)] = i % 2 == 0 ? 1.0F : -1.0F;
  }
  return factors;
}

/// A file of the factors of an image of this shape, whose matrices are its channels.
inline std::vector<std::byte> factors_file(const ImageShape& shape, int rank,
                                           FactorType type = FactorType::float32) {
  const std::vector<Factors> matrices(std::size_t(shape.channels),
                                      make_factors(shape.rows, shape.cols, rank));
  const SampleStatistics samples{0, 255, std::vector<double>(std::size_t(shape.channels), 100)};
  return codec::encode_factors(shape, ColorMode::channels, samples, matrices, type);
}

}  // namespace eckart::test
