#include "compute/cpu/samples.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace eckart::compute::cpu {
namespace {

// Number of samples per block. A sum of 256 squared differences of 8-bit samples is below 2^24, so
// it is exact in float32. Blocks of 16-bit samples are summed in float64.
constexpr int kBlock = 256;
template <class T>
using Sum = std::conditional_t<sizeof(T) == 1, float, double>;

/// Calls visit(row, first column, last column) for each row of each tile. Tiles make reads and
/// writes use whole cache lines if one of the two matrices is transposed in memory.
template <class Visit>
void for_each_tile_row(int rows, int cols, int tile_cols, const Visit& visit) {
  constexpr int kTileRows = 32;
  for (int top = 0; top < rows; top += kTileRows) {
    for (int left = 0; left < cols; left += tile_cols) {
      for (int row = top; row < std::min(rows, top + kTileRows); ++row) {
        visit(row, left, std::min(cols, left + tile_cols));
      }
    }
  }
}

/// Rounds to nearest even: a float32 of at least 2^23 has no fraction bits.
float round_to_even(float value) {
  constexpr float kNoFraction = 0x1p23F;
  return (value + kNoFraction) - kNoFraction;
}

/// Processes at most kBlock samples. Each step has its own loop, because compilers vectorize loops
/// with several types badly. Residuals are all non-negative, so the order of their sum does not
/// matter.
template <class T>
SquaredErrors compare_block(const float* values, const T* samples, int count, float peak,
                            double scale, T* stored) {
  constexpr bool kIsFloat = std::is_floating_point_v<T>;
  float original[kBlock];
  std::conditional_t<kIsFloat, float, std::int32_t> rounded[kBlock];
  if constexpr (kIsFloat) {
    const double inverse = 1 / scale;
    for (int i = 0; i < count; ++i) original[i] = float(samples[i] * scale);
    for (int i = 0; i < count; ++i) rounded[i] = values[i];
    for (int i = 0; i < count; ++i) stored[i] = T(rounded[i] * inverse);
  } else {
    for (int i = 0; i < count; ++i) original[i] = float(samples[i]);
    for (int i = 0; i < count; ++i) {
      const float clamped = values[i] < peak ? values[i] : peak;
      rounded[i] = std::int32_t(round_to_even(clamped > 0.F ? clamped : 0.F));
    }
    for (int i = 0; i < count; ++i) stored[i] = T(rounded[i]);
  }
  float residual = 0;
#pragma omp simd reduction(+ : residual)
  for (int i = 0; i < count; ++i) {
    const float before = values[i] - original[i];
    residual += before * before;
  }
  Sum<T> squared_error = 0;
#pragma omp simd reduction(+ : squared_error)
  for (int i = 0; i < count; ++i) {
    const Sum<T> after = Sum<T>(rounded[i]) - Sum<T>(original[i]);
    squared_error += after * after;
  }
  return {double(residual), double(squared_error)};
}

}  // namespace

template <class T>
void gather(MatrixView<const T> from, T* to) {
  constexpr int kTileCols = 32;
  for_each_tile_row(from.rows, from.col_stride == 1 ? 1 : from.cols, kTileCols,
                    [&](int row, int left, int right) {
                      T* row_data = to + std::ptrdiff_t(row) * from.cols;
                      if (from.col_stride == 1) {
                        std::copy_n(&from(row, 0), from.cols, row_data);
                      } else {
                        for (int col = left; col < right; ++col) row_data[col] = from(row, col);
                      }
                    });
}

/// Writes some rows of a transposed image, which are columns of the plane.
template <int kCount, class T>
void scatter_columns(const T* from, MatrixView<T> to, int first) {
  for (int row = 0; row < to.rows; ++row) {
    const T* samples = from + std::ptrdiff_t(row) * to.cols + first;
    for (int i = 0; i < kCount; ++i) to(row, first + i) = samples[i];
  }
}

/// Writes along the rows of the image, because an image is often not in the cache. A plane that is
/// read across its rows is, but lines whose distance is a power of two displace each other: so
/// several samples of each are read at a time.
template <class T>
void scatter(const T* from, MatrixView<T> to) {
  if (to.col_stride > to.row_stride) {  // a transposed image
    constexpr int kRowsAtOnce = 8;
    int col = 0;
    for (; col + kRowsAtOnce <= to.cols; col += kRowsAtOnce)
      scatter_columns<kRowsAtOnce>(from, to, col);
    for (; col < to.cols; ++col) scatter_columns<1>(from, to, col);
    return;
  }
  for (int row = 0; row < to.rows; ++row) {
    const T* row_data = from + std::ptrdiff_t(row) * to.cols;
    if (to.col_stride == 1) {
      std::copy_n(row_data, to.cols, &to(row, 0));
    } else {
      for (int col = 0; col < to.cols; ++col) to(row, col) = row_data[col];
    }
  }
}

template <class T>
double to_float(std::span<const T> samples, float* values, double scale) {
  if constexpr (std::is_floating_point_v<T>) {
    for (std::size_t i = 0; i < samples.size(); ++i) values[i] = float(samples[i] * scale);
  } else {
    for (std::size_t i = 0; i < samples.size(); ++i) values[i] = float(samples[i]);
  }
  long double squared_norm = 0;  // the sum of many blocks of floats is not exact in a double
  for (std::size_t i = 0; i < samples.size(); i += kBlock) {
    const std::size_t end = std::min(samples.size(), i + kBlock);
    Sum<T> block = 0;
#pragma omp simd reduction(+ : block)
    for (std::size_t j = i; j < end; ++j) block += Sum<T>(values[j]) * Sum<T>(values[j]);
    squared_norm += double(block);
  }
  return double(squared_norm);
}

template <class T>
SquaredErrors round_and_compare(const float* values, std::span<const T> samples, int peak,
                                T* stored, double scale) {
  SquaredErrors errors;
  for (std::size_t i = 0; i < samples.size(); i += kBlock) {
    const auto count = int(std::min(std::size_t(kBlock), samples.size() - i));
    const SquaredErrors block =
        compare_block(values + i, &samples[i], count, float(peak), scale, stored + i);
    errors.residual += block.residual;
    errors.squared_error += block.squared_error;
  }
  return errors;
}

template void gather(MatrixView<const std::uint8_t>, std::uint8_t*);
template void gather(MatrixView<const std::uint16_t>, std::uint16_t*);
template void gather(MatrixView<const float>, float*);
template void scatter(const std::uint8_t*, MatrixView<std::uint8_t>);
template void scatter(const std::uint16_t*, MatrixView<std::uint16_t>);
template void scatter(const float*, MatrixView<float>);
template double to_float(std::span<const std::uint8_t>, float*, double);
template double to_float(std::span<const std::uint16_t>, float*, double);
template double to_float(std::span<const float>, float*, double);
template SquaredErrors round_and_compare(const float*, std::span<const std::uint8_t>, int,
                                         std::uint8_t*, double);
template SquaredErrors round_and_compare(const float*, std::span<const std::uint16_t>, int,
                                         std::uint16_t*, double);
template SquaredErrors round_and_compare(const float*, std::span<const float>, int, float*, double);

}  // namespace eckart::compute::cpu
