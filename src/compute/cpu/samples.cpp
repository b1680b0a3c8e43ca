#include "compute/cpu/samples.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <type_traits>

namespace eckart::compute::cpu {
namespace {

// Number of samples per block. A sum of 256 squared 8-bit samples fits into 32 bits. Blocks of
// other samples are summed in float64.
constexpr int kBlock = 256;

/// A float32 of at least 2^23 has no fraction bits: adding this rounds to nearest even, and the low
/// bits are the integer.
constexpr float kNoFraction = 0x1p23F;

/// Returns the sum of squares of a block of 8-bit samples, or of their differences. Compilers have
/// an instruction for sums of products of 16-bit integers.
std::int32_t sum_of_squares(const std::uint8_t* samples, int count) {
  std::int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto sample = std::int16_t(samples[i]);
    sum += sample * sample;
  }
  return sum;
}
std::int32_t sum_of_squares(const std::uint8_t* a, const std::uint8_t* b, int count) {
  std::int32_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const auto difference = std::int16_t(a[i] - b[i]);
    sum += difference * difference;
  }
  return sum;
}

/// The same for a block of other samples.
template <class T>
double sum_of_squares(const T* samples, int count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < count; ++i) sum += double(samples[i]) * double(samples[i]);
  return sum;
}
template <class T>
double sum_of_squares(const T* a, const T* b, int count) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (int i = 0; i < count; ++i) {
    const double difference = double(a[i]) - double(b[i]);
    sum += difference * difference;
  }
  return sum;
}

/// Processes at most kBlock samples. Each step has its own loop, because compilers vectorize loops
/// with several types badly. Residuals are all non-negative, so the order of their sum does not
/// matter.
template <class T>
SquaredErrors compare_block(const float* values, const float* originals, const T* samples,
                            int count, float peak, double scale, T* stored) {
  float residual = 0;
#pragma omp simd reduction(+ : residual)
  for (int i = 0; i < count; ++i) {
    const float before = values[i] - originals[i];
    residual += before * before;
  }
  if constexpr (std::is_floating_point_v<T>) {
    const double inverse = 1 / scale;
    for (int i = 0; i < count; ++i) stored[i] = T(values[i] * inverse);
    return {residual, sum_of_squares(values, originals, count)};
  } else {
    float clamped[kBlock];
    for (int i = 0; i < count; ++i) {
      const float below_peak = values[i] < peak ? values[i] : peak;
      clamped[i] = below_peak > 0.F ? below_peak : 0.F;
    }
    for (int i = 0; i < count; ++i)
      stored[i] = T(std::bit_cast<std::uint32_t>(clamped[i] + kNoFraction));
    return {residual, double(sum_of_squares(stored, samples, count))};
  }
}

/// Copies samples that may lie between those of other channels.
template <class T>
void copy(const T* from, std::ptrdiff_t from_stride, T* to, std::ptrdiff_t to_stride, int count) {
  if (from_stride == 1 && to_stride == 1) {
    std::copy_n(from, count, to);
    return;
  }
  constexpr int kSamplesPerStep = 8;
  int done = 0;
  for (; done + kSamplesPerStep <= count; done += kSamplesPerStep) {
    for (int i = 0; i < kSamplesPerStep; ++i) to[i * to_stride] = from[i * from_stride];
    from += kSamplesPerStep * from_stride;
    to += kSamplesPerStep * to_stride;
  }
  for (int i = 0; i < count - done; ++i) to[i * to_stride] = from[i * from_stride];
}

}  // namespace

/// By tiles, so that reads and writes use whole cache lines though one of the two matrices is
/// transposed in memory.
template <class T>
void gather(MatrixView<const T> from, T* to) {
  constexpr int kTileSide = 32;
  const int tile_rows = from.col_stride > from.row_stride ? kTileSide : 1;
  const int tile_cols = tile_rows == 1 ? from.cols : kTileSide;
  for (int top = 0; top < from.rows; top += tile_rows) {
    for (int left = 0; left < from.cols; left += tile_cols) {
      const int right = std::min(from.cols, left + tile_cols);
      for (int row = top; row < std::min(from.rows, top + tile_rows); ++row)
        copy(&from(row, left), from.col_stride, to + std::ptrdiff_t(row) * from.cols + left, 1,
             right - left);
    }
  }
}

template <class T>
void scatter(const T* from, MatrixView<T> to) {
  for (int row = 0; row < to.rows; ++row)
    copy(from + std::ptrdiff_t(row) * to.cols, 1, &to(row, 0), to.col_stride, to.cols);
}

template <class T>
void to_float(std::span<const T> samples, float* values, double scale) {
  if constexpr (std::is_floating_point_v<T>) {
    for (std::size_t i = 0; i < samples.size(); ++i) values[i] = float(samples[i] * scale);
  } else {
    for (std::size_t i = 0; i < samples.size(); ++i) values[i] = float(samples[i]);
  }
}

template <class T>
double squared_norm(std::span<const T> samples, double scale) {
  long double sum = 0;  // the sum of many blocks of floats is not exact in a double
  for (std::size_t i = 0; i < samples.size(); i += kBlock)
    sum +=
        double(sum_of_squares(&samples[i], int(std::min<std::size_t>(kBlock, samples.size() - i))));
  return double(sum * scale * scale);
}

template <class T>
SquaredErrors round_and_compare(const float* values, const float* originals,
                                std::span<const T> samples, int peak, T* stored, double scale) {
  SquaredErrors errors;
  for (std::size_t i = 0; i < samples.size(); i += kBlock) {
    const auto count = int(std::min(std::size_t(kBlock), samples.size() - i));
    errors += compare_block(values + i, originals + i, &samples[i], count, float(peak), scale,
                            stored + i);
  }
  return errors;
}

template void gather(MatrixView<const std::uint8_t>, std::uint8_t*);
template void gather(MatrixView<const std::uint16_t>, std::uint16_t*);
template void gather(MatrixView<const float>, float*);
template void scatter(const std::uint8_t*, MatrixView<std::uint8_t>);
template void scatter(const std::uint16_t*, MatrixView<std::uint16_t>);
template void scatter(const float*, MatrixView<float>);
template void to_float(std::span<const std::uint8_t>, float*, double);
template void to_float(std::span<const std::uint16_t>, float*, double);
template void to_float(std::span<const float>, float*, double);
template double squared_norm(std::span<const std::uint8_t>, double);
template double squared_norm(std::span<const std::uint16_t>, double);
template double squared_norm(std::span<const float>, double);
template SquaredErrors round_and_compare(const float*, const float*, std::span<const std::uint8_t>,
                                         int, std::uint8_t*, double);
template SquaredErrors round_and_compare(const float*, const float*, std::span<const std::uint16_t>,
                                         int, std::uint16_t*, double);
template SquaredErrors round_and_compare(const float*, const float*, std::span<const float>, int,
                                         float*, double);

}  // namespace eckart::compute::cpu
