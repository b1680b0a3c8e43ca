#pragma once

#include <cstddef>
#include <vector>

#include "core/color_mode.hpp"
#include "core/enum_names.hpp"
#include "core/image.hpp"

namespace eckart {

/// The leading singular triplets of a rows x cols matrix A: A is approximately U diag(s) V'.
struct Factors {
  int rows = 0, cols = 0;
  std::vector<double> s{};  ///< in levels, decreasing; those of noise only up to their rounding
  std::vector<float> u{};   ///< row-major, rows x rank; columns of unit length, or 0 where s is 0
  std::vector<float> vt{};  ///< row-major, rank x cols; rows of unit length, or 0 where s is 0
  double squared_norm = 0;  ///< ||A||_F^2 of the whole matrix, in levels^2

  int rank() const { return int(s.size()); }
  /// Multiplies the matrix.
  void scale_levels(double scale) {
    for (double& value : s) value *= scale;
    squared_norm *= scale * scale;
  }
};

/// The memory of the factors of a rows x cols matrix.
constexpr std::size_t factor_bytes(int rows, int cols, int rank) {
  return std::size_t(rank) *
         (sizeof(float) * (std::size_t(rows) + std::size_t(cols)) + sizeof(double));
}

/// The samples of an image: what is told of it where only its factors are known.
struct SampleStatistics {
  double min = 0, max = 0;   ///< over all channels
  std::vector<double> mean;  ///< of each channel
};

/// The factors of the matrices of an image, and what is needed to make an image of them.
struct ImageFactors {
  ImageShape shape;
  /// Of the matrices, see matrices_shape(). The factors are in levels of the image, also those of
  /// Y, Cb and Cr.
  ColorMode color = ColorMode::channels;
  SampleStatistics samples;
  std::vector<Factors> matrices;
};

/// The type of U and V in files.
enum class FactorType { none, float32, float16 };

constexpr auto enum_names(FactorType) {
  return std::to_array<EnumName<FactorType>>({{FactorType::none, "none"},
                                              {FactorType::float32, "float32"},
                                              {FactorType::float16, "float16"}});
}

}  // namespace eckart
