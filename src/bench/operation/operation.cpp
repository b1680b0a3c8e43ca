#include "bench/operation/operation.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <thread>

#include "machine/usable_cores.hpp"
#include "synth/random.hpp"

namespace eckart::bench {
namespace {

std::size_t product(int a, int b) { return std::size_t(a) * std::size_t(b); }

/// The number of elements of each sum.
int sum_length(const Shape& shape) {
  switch (shape.operation) {
    case Operation::reconstruct:
    case Operation::multiply:
      return shape.k;
    case Operation::multiply_vector:
      return shape.n;
    case Operation::transpose:
    case Operation::add:
      break;
  }
  return 1;
}

/// Calls work(begin, end) for parts of [0, size), on all cores if there is enough to do.
/// `operations`: of all parts.
void run_on_cores(std::size_t size, double operations,
                  const std::function<void(std::size_t begin, std::size_t end)>& work) {
  constexpr double kOperationsOfThread = 1e7;
  const std::size_t most = std::size_t(machine::usable_cores());
  const std::size_t threads =
      std::clamp(std::size_t(operations / kOperationsOfThread), std::size_t(1), most);
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < threads; ++i)
    others.emplace_back(work, size * i / threads, size * (i + 1) / threads);
  work(0, size / threads);
}

/// A x for a row-major matrix, and for all vectors at once: element by element.
template <std::size_t kVectors>
std::vector<double> times(const Array& matrix, const std::vector<double>& x) {
  return std::visit(
      [&](const auto& a) {
        const std::size_t cols = x.size() / kVectors, rows = a.size() / cols;
        std::vector<double> y(rows * kVectors);
        run_on_cores(rows, double(a.size()) * kVectors, [&](std::size_t begin, std::size_t end) {
          for (std::size_t i = begin; i < end; ++i) {
            std::array<double, kVectors> sums{};
            for (std::size_t j = 0; j < cols; ++j) {
              const auto element = double(a[i * cols + j]);
              for (std::size_t v = 0; v < kVectors; ++v) sums[v] += element * x[j * kVectors + v];
            }
            std::copy(sums.begin(), sums.end(), y.begin() + std::ptrdiff_t(i * kVectors));
          }
        });
        return y;
      },
      matrix);
}

/// A' x for a row-major matrix.
template <std::size_t kVectors>
std::vector<double> transposed_times(const Array& matrix, const std::vector<double>& x) {
  return std::visit(
      [&](const auto& a) {
        const std::size_t rows = x.size() / kVectors, cols = a.size() / rows;
        std::vector<double> y(cols * kVectors);
        for (std::size_t i = 0; i < rows; ++i) {
          for (std::size_t j = 0; j < cols; ++j) {
            const auto element = double(a[i * cols + j]);
            for (std::size_t v = 0; v < kVectors; ++v)
              y[j * kVectors + v] += element * x[i * kVectors + v];
          }
        }
        return y;
      },
      matrix);
}

/// Multiplies row i by element i of a vector.
template <std::size_t kVectors>
void scale(std::vector<double>& rows, const Array& factors) {
  std::visit(
      [&](const auto& f) {
        for (std::size_t i = 0; i < rows.size(); ++i) rows[i] *= double(f[i / kVectors]);
      },
      factors);
}

/// The exact result, multiplied by x.
template <std::size_t kVectors>
std::vector<double> expected_times(const Shape& shape, const std::vector<Array>& operands,
                                   const std::vector<double>& x) {
  switch (shape.operation) {
    case Operation::reconstruct: {
      std::vector<double> t = times<kVectors>(operands[2], x);
      scale<kVectors>(t, operands[1]);
      return times<kVectors>(operands[0], t);
    }
    case Operation::multiply:
      return times<kVectors>(operands[0], times<kVectors>(operands[1], x));
    case Operation::transpose:
      return transposed_times<kVectors>(operands[0], x);
    case Operation::add: {
      std::vector<double> sum = times<kVectors>(operands[0], x);
      const std::vector<double> b = times<kVectors>(operands[1], x);
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += b[i];
      return sum;
    }
    case Operation::multiply_vector:
      return times<kVectors>(operands[0], transposed_times<kVectors>(operands[1], x));
  }
  return {};
}

/// The number of columns of the result.
int result_columns(const Shape& shape) {
  switch (shape.operation) {
    case Operation::reconstruct:
    case Operation::multiply:
      return shape.n;
    case Operation::transpose:
      return shape.m;
    case Operation::add:
    case Operation::multiply_vector:
      break;
  }
  return 1;
}

std::vector<double> random_signs(std::size_t count) {
  synth::Random random(1);
  std::vector<double> signs(count);
  for (double& sign : signs) sign = random.uniform() < 0.5 ? -1.0 : 1.0;
  return signs;
}

/// The number of random vectors; a result of one column is compared element by element.
constexpr std::size_t kVectors = 4;

}  // namespace

std::string_view to_string(Precision precision) {
  return precision == Precision::float32 ? "float32" : "float64";
}

std::vector<std::size_t> Shape::operand_sizes() const {
  switch (operation) {
    case Operation::reconstruct:
      return {product(m, k), std::size_t(k), product(k, n)};
    case Operation::multiply:
      return {product(m, k), product(k, n)};
    case Operation::transpose:
      return {product(m, n)};
    case Operation::add:
      return {std::size_t(n), std::size_t(n)};
    case Operation::multiply_vector:
      return {product(m, n), std::size_t(n)};
  }
  return {};
}

std::size_t Shape::result_size() const {
  if (operation == Operation::add) return std::size_t(n);
  return operation == Operation::multiply_vector ? std::size_t(m) : product(m, n);
}

double Shape::flops() const {
  switch (operation) {
    case Operation::reconstruct:
      return 2.0 * m * n * k + 1.0 * n * k;
    case Operation::multiply:
      return 2.0 * m * n * k;
    case Operation::transpose:
      return 0;
    case Operation::add:
      return n;
    case Operation::multiply_vector:
      return 2.0 * m * n;
  }
  return 0;
}

double Shape::bytes() const {
  std::size_t elements = result_size();
  for (const std::size_t size : operand_sizes()) elements += size;
  return double(elements * element_bytes());
}

Array make_array(Precision precision, std::size_t size) {
  if (precision == Precision::float32) return std::vector<float>(size);
  return std::vector<double>(size);
}

std::vector<Array> random_operands(const Shape& shape, int seed) {
  constexpr std::size_t kBlock = 65536;  // elements with a random stream of their own
  constexpr double kOperations = 10;     // of a random number
  std::vector<Array> operands;
  std::uint64_t first_stream = 0;
  for (const std::size_t size : shape.operand_sizes()) {
    const std::size_t blocks = (size + kBlock - 1) / kBlock;
    std::visit(
        [&](auto& values) {
          run_on_cores(blocks, kOperations * double(size), [&](std::size_t begin, std::size_t end) {
            for (std::size_t block = begin; block < end; ++block) {
              synth::Random random(std::uint64_t(seed), first_stream + block);
              const std::size_t block_end = std::min(size, (block + 1) * kBlock);
              for (std::size_t i = block * kBlock; i < block_end; ++i)
                values[i] = float(random.uniform(-1, 1));
            }
          });
        },
        operands.emplace_back(make_array(shape.precision, size)));
    first_stream += blocks;
  }
  return operands;
}

Reference::Reference(const Shape& shape, const std::vector<Array>& operands)
    : has_one_column_(result_columns(shape) == 1),
      vectors_(has_one_column_ ? std::vector{1.0}
                               : random_signs(std::size_t(result_columns(shape)) * kVectors)),
      expected_(has_one_column_ ? expected_times<1>(shape, operands, vectors_)
                                : expected_times<kVectors>(shape, operands, vectors_)) {}

double Reference::relative_error(const Array& result) const {
  const std::vector<double> actual =
      has_one_column_ ? times<1>(result, vectors_) : times<kVectors>(result, vectors_);
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < expected_.size(); ++i) {
    error += (actual[i] - expected_[i]) * (actual[i] - expected_[i]);
    norm += expected_[i] * expected_[i];
  }
  return norm > 0 ? std::sqrt(error / norm) : std::sqrt(error);
}

double max_relative_error(const Shape& shape) {
  const double unit = shape.precision == Precision::float32
                          ? std::numeric_limits<float>::epsilon() / 2
                          : std::numeric_limits<double>::epsilon() / 2;
  return unit * (4 + std::sqrt(double(sum_length(shape))));
}

}  // namespace eckart::bench
