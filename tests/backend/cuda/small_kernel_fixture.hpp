#pragma once

#include <cuda_fp16.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "compute/cuda/kernels/rotate.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"

namespace eckart::compute::cuda {

constexpr int kCount = 3;  // matrices per batch
inline const std::vector<int> kOrders{16, 48, 112, 192};

inline double to_double(__half value) { return double(__half2float(value)); }

/// Contiguous column-major matrices.
struct Matrices {
  int rows, cols;
  std::vector<double> values;
  double& at(int matrix, int row, int col) {
    return values[std::size_t((matrix * cols + col) * rows + row)];
  }
  double at(int matrix, int row, int col) const {
    return const_cast<Matrices&>(*this).at(matrix, row, col);
  }
  template <class T, class Convert>
  std::vector<T> as(Convert convert) const {
    std::vector<T> result;
    for (const double value : values) result.push_back(convert(value));
    return result;
  }
  std::vector<float> to_float32() const {
    return as<float>([](double v) { return float(v); });
  }
  std::vector<__half> to_float16() const {
    return as<__half>([](double v) { return __float2half_rn(float(v)); });
  }
};

inline Matrices zeros(int rows, int cols, int count = kCount) {
  return {rows, cols, std::vector<double>(std::size_t(rows * cols * count))};
}

/// A'B for each pair of matrices.
inline Matrices transposed_product(const Matrices& a, const Matrices& b, int count = kCount) {
  Matrices product = zeros(a.cols, b.cols, count);
  for (int matrix = 0; matrix < count; ++matrix) {
    for (int i = 0; i < a.cols; ++i) {
      for (int j = 0; j < b.cols; ++j) {
        for (int row = 0; row < a.rows; ++row)
          product.at(matrix, i, j) += a.at(matrix, row, i) * b.at(matrix, row, j);
      }
    }
  }
  return product;
}

/// The product of columns a and b of one matrix; adding a multiple of one column to another.
inline double column_dot(const Matrices& of, int matrix, int a, int b) {
  double sum = 0;
  for (int row = 0; row < of.rows; ++row) sum += of.at(matrix, row, a) * of.at(matrix, row, b);
  return sum;
}
inline void add_column(Matrices& to, int matrix, int from, int column, double factor) {
  for (int row = 0; row < to.rows; ++row)
    to.at(matrix, row, column) += factor * to.at(matrix, row, from);
}

/// Small matrices for rotate() on the device.
class DeviceSmallMatrices {
 public:
  DeviceSmallMatrices(int rows, int cols, int count = kCount)
      : rows_(rows),
        cols_(cols),
        count_(count),
        hi_(std::vector<__half>(std::size_t(rows * cols * count), __float2half_rn(7.0F))),
        lo_(hi_.copy_to_host()),
        scale_(std::vector<float>(std::size_t(rows * count), 7.0F)) {}
  SmallMatrix get() const { return {hi_.get(), lo_.get(), scale_.get()}; }
  Matrices copy_to_host() const {
    Matrices result = zeros(rows_, cols_, count_);
    const auto hi = hi_.copy_to_host(), lo = lo_.copy_to_host();
    const auto scale = scale_.copy_to_host();
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      const std::size_t matrix = i / std::size_t(rows_ * cols_), row = i % std::size_t(rows_);
      result.values[i] =
          (to_double(hi[i]) + to_double(lo[i])) * double(scale[matrix * std::size_t(rows_) + row]);
    }
    return result;
  }

 private:
  int rows_, cols_, count_;
  DeviceArray<__half> hi_, lo_;
  DeviceArray<float> scale_;
};

class SmallKernelTest : public KernelTest {
 protected:
  /// Uniform random columns of very different norms, each with a small part of the first column.
  Matrices graded(int rows, int cols) {
    std::uniform_real_distribution<double> uniform(-1, 1);
    Matrices result = zeros(rows, cols);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col < cols; ++col) {
        const double length = std::pow(10.0, 4 - 6.0 * col / cols);
        for (int row = 0; row < rows; ++row) {
          result.at(matrix, row, col) = length * uniform(random_);
          if (col > 0)
            result.at(matrix, row, col) +=
                0.5 * length / std::pow(10.0, 4) * result.at(matrix, row, 0);
        }
      }
    }
    return result;
  }
};

}  // namespace eckart::compute::cuda
