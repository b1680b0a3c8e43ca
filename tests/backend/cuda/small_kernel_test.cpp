// The kernels of the subspace solver, each against float64.
#include <cuda_fp16.h>

#include <array>
#include <numeric>

#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"

namespace eckart::cuda {
namespace {

constexpr int kCount = 3;  // matrices a batch
const std::vector<int> kOrders{16, 48, 112, 192};

double real(__half value) { return double(__half2float(value)); }

/// Column-major matrices, one after the other.
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
  std::vector<float> floats() const {
    return as<float>([](double v) { return float(v); });
  }
  std::vector<__half> halves() const {
    return as<__half>([](double v) { return __float2half_rn(float(v)); });
  }
};

Matrices zeros(int rows, int cols, int count = kCount) {
  return {rows, cols, std::vector<double>(std::size_t(rows * cols * count))};
}

/// a'b of each pair of matrices.
Matrices transposed_product(const Matrices& a, const Matrices& b, int count = kCount) {
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

/// A small matrix for rotate() on the device.
class OnDeviceSmall {
 public:
  OnDeviceSmall(int rows, int cols, int count = kCount)
      : rows_(rows),
        cols_(cols),
        count_(count),
        hi_(std::vector<__half>(std::size_t(rows * cols * count), __float2half_rn(7.0F))),
        lo_(hi_.fetch()),
        scale_(std::vector<float>(std::size_t(rows * count), 7.0F)) {}
  SmallMatrix get() const { return {hi_.get(), lo_.get(), scale_.get()}; }
  Matrices fetch() const {
    Matrices result = zeros(rows_, cols_, count_);
    const auto hi = hi_.fetch(), lo = lo_.fetch();
    const auto scale = scale_.fetch();
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      const std::size_t matrix = i / std::size_t(rows_ * cols_), row = i % std::size_t(rows_);
      result.values[i] =
          (real(hi[i]) + real(lo[i])) * double(scale[matrix * std::size_t(rows_) + row]);
    }
    return result;
  }

 private:
  int rows_, cols_, count_;
  OnDevice<__half> hi_, lo_;
  OnDevice<float> scale_;
};

class SmallKernelTest : public KernelTest {
 protected:
  /// Uniform values, the columns of very different length, and turned into one another a little.
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

TEST_F(SmallKernelTest, gram_float64_keeps_float64) {
  for (const int l : kOrders) {
    const int rows = 4 * ((l + 50) / 4);
    Matrices b = graded(rows, l);
    for (double& value : b.values) value = double(float(value));
    const OnDevice<float> on_device(b.floats());
    const OnDevice<double> s(std::vector<double>(std::size_t(kCount * l * l), -7.0));
    on_stream([&](cudaStream_t stream) {
      gram_float64(on_device.get(), rows, l, s.get(), kCount, stream);
    });
    const Matrices expected = transposed_product(b, b), found{l, l, s.fetch()};
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col < l; ++col) {
        for (int row = col; row < l; ++row) {
          const double size =
              std::sqrt(expected.at(matrix, row, row) * expected.at(matrix, col, col));
          ASSERT_NEAR(found.at(matrix, col, row), expected.at(matrix, row, col), 1e-13 * size)
              << "order " << l;
        }
      }
    }
  }
}

TEST_F(SmallKernelTest, orthonormalizer_and_rotate_make_columns_orthonormal) {
  for (const int l : kOrders) {
    const int rows = 16 * ((l + 79) / 16);
    const float factor = 8;
    Matrices z = graded(rows, l);
    const std::vector<__half> halves = z.halves();
    std::transform(halves.begin(), halves.end(), z.values.begin(), real);
    for (int row = 0; row < rows; ++row) z.at(1, row, l - 1) = 0;  // one column of zeros
    const OnDevice<__half> from(z.halves());
    const OnDevice<__half> to(std::vector<__half>(halves.size(), __float2half_rn(7.0F)));
    const OnDevice<float> s(transposed_product(z, z).floats());
    const OnDeviceSmall m(l, l);
    on_stream([&](cudaStream_t stream) {
      orthonormalizer(s.get(), l, 1e-5F, m.get(), kCount, stream);
      rotate(from.get(), rows, l, m.get(), l, true, factor, to.get(), kCount, stream);
    });
    Matrices q = zeros(rows, l);
    const std::vector<__half> found = to.fetch();
    std::transform(found.begin(), found.end(), q.values.begin(),
                   [&](__half value) { return real(value) / double(factor); });
    const Matrices gram = transposed_product(q, q);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int a = 0; a < l; ++a) {
        for (int b = 0; b < l; ++b) {
          const bool none = matrix == 1 && (a == l - 1 || b == l - 1);
          ASSERT_NEAR(gram.at(matrix, a, b), a == b && !none ? 1 : 0, 1e-3)
              << "order " << l << ' ' << a << ',' << b;
        }
      }
    }
  }
}

TEST_F(SmallKernelTest, orthonormalizer_stands_columns_that_depend_on_others) {
  const int l = 32;
  Matrices s = zeros(l, l, 1);
  for (double& value : s.values) value = 1e6;  // the same column, l times
  const OnDevice<float> on_device(s.floats());
  const OnDeviceSmall m(l, l, 1);
  on_stream(
      [&](cudaStream_t stream) { orthonormalizer(on_device.get(), l, 1e-5F, m.get(), 1, stream); });
  const Matrices found = m.fetch();
  for (const double value : found.values) ASSERT_TRUE(std::isfinite(value));
  EXPECT_NEAR(found.at(0, 0, 0), 1e-3, 1e-6);
}

TEST_F(SmallKernelTest, rotate_split_is_as_good_as_float32) {
  for (const int l : kOrders) {
    const int rows = 16 * ((l + 79) / 16), columns = 48;
    const float factor = 4;
    const Matrices b = graded(rows, l);
    std::uniform_real_distribution<double> uniform(-1, 1);
    Matrices m = zeros(l, columns);
    std::vector<__half> hi, lo;
    std::vector<float> scale;
    for (int i = 0; i < kCount * l; ++i) scale.push_back(std::exp2f(float(i % l / 16 - 14)));
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col < columns; ++col) {
        for (int row = 0; row < l; ++row) {
          const float value = float(uniform(random_));
          hi.push_back(__float2half_rn(value));
          lo.push_back(__float2half_rn(value - __half2float(hi.back())));
          m.at(matrix, row, col) =
              (real(hi.back()) + real(lo.back())) * double(scale[std::size_t(matrix * l + row)]);
        }
      }
    }
    const OnDevice<float> from(b.floats()), scale_on_device(scale);
    const OnDevice<__half> hi_on_device(hi), lo_on_device(lo);
    const OnDevice<__half> to(std::vector<__half>(std::size_t(2 * kCount * rows * columns)));
    on_stream([&](cudaStream_t stream) {
      rotate_split(from.get(), rows, l,
                   {hi_on_device.get(), lo_on_device.get(), scale_on_device.get()}, columns, false,
                   factor, to.get(), kCount, stream);
    });
    const std::vector<__half> found = to.fetch();
    const std::size_t block = std::size_t(rows * columns);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col < columns; ++col) {
        for (int row = 0; row < rows; ++row) {
          double expected = 0, size = 0;
          for (int t = 0; t < l; ++t) {
            const double term = double(float(b.at(matrix, row, t))) * m.at(matrix, t, col);
            expected += term;
            size += std::abs(term);
          }
          const std::size_t at = 2 * block * std::size_t(matrix) + std::size_t(col * rows + row);
          ASSERT_NEAR((real(found[at]) + real(found[at + block])) / double(factor), expected,
                      2e-6 * size + 1e-8)
              << "order " << l;
        }
      }
    }
  }
}

TEST_F(SmallKernelTest, small_svd_gives_singular_values_and_orthonormal_left_vectors) {
  for (const int l : kOrders) {
    const int rows = l + 30, k = l / 2 - 3, columns = (k + 15) / 16 * 16, stride = l + 5;
    Matrices b = graded(rows, l);
    for (int row = 0; row < rows; ++row) b.at(1, row, 3) = 0;                    // no column
    for (int row = 0; row < rows; ++row) b.at(2, row, 5) = 2 * b.at(2, row, 4);  // no new column
    const Matrices gram = transposed_product(b, b);
    const OnDevice<double> s(gram.values),
        sigma_squared(std::vector<double>(std::size_t(kCount * stride), -7.0));
    const OnDevice<float> work(std::vector<float>(std::size_t(kCount * l * l), -7.0F));
    const OnDevice<int> info(std::vector<int>(kCount, -7));
    const OnDeviceSmall m(l, columns);
    on_stream([&](cudaStream_t stream) {
      small_svd(s.get(), l, k, columns, sigma_squared.get(), stride, m.get(), work.get(),
                info.get(), kCount, stream);
    });
    EXPECT_EQ(info.fetch(), std::vector<int>(kCount, 0));
    const std::vector<double> found = sigma_squared.fetch();
    const Matrices by = m.fetch();
    Matrices u = zeros(rows, columns);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      double trace = 0, sum = 0;
      for (int i = 0; i < l; ++i) {
        trace += gram.at(matrix, i, i);
        const double value = found[std::size_t(matrix * stride + i)];
        sum += value;
        ASSERT_GE(value, 0);
        if (i > 0) {
          ASSERT_LE(value, found[std::size_t(matrix * stride + i - 1)]) << "descending";
        }
      }
      EXPECT_NEAR(sum, trace, 1e-5 * trace);
      for (int col = 0; col < columns; ++col) {
        for (int row = 0; row < rows; ++row) {
          for (int t = 0; t < l; ++t)
            u.at(matrix, row, col) += b.at(matrix, row, t) * by.at(matrix, t, col);
        }
      }
    }
    const Matrices identity = transposed_product(u, u);
    const Matrices coupled = transposed_product(b, u);  // B'U = W Sigma: orthogonal columns
    const Matrices squares = transposed_product(coupled, coupled);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < columns; ++j) {
          ASSERT_NEAR(identity.at(matrix, i, j), i == j && i < k ? 1 : 0, 2e-5)
              << "order " << l << ", matrix " << matrix << ": " << i << ',' << j;
        }
        if (i < k) {
          const double value = found[std::size_t(matrix * stride + i)];
          ASSERT_NEAR(squares.at(matrix, i, i), value, 1e-4 * value) << "order " << l;
        }
      }
    }
  }
}

TEST_F(SmallKernelTest, inverse_cholesky_makes_columns_orthonormal_in_float64) {
  for (const int l : {1, 2, 16, 33, 48, 96, 160, 192}) {
    const int rows = l + 40;
    const Matrices y = graded(rows, l);
    const OnDevice<double> s(transposed_product(y, y).values);
    on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), l, kCount, stream); });
    const Matrices inverse{l, l, s.fetch()};
    Matrices q = zeros(rows, l);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col < l; ++col) {
        for (int row = 0; row < rows; ++row) {
          for (int t = 0; t <= col; ++t)
            q.at(matrix, row, col) += y.at(matrix, row, t) * inverse.at(matrix, t, col);
        }
        for (int t = col + 1; t < l; ++t) {
          ASSERT_EQ(inverse.at(matrix, t, col), 0) << "below the diagonal";
        }
      }
    }
    const Matrices gram = transposed_product(q, q);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int a = 0; a < l; ++a) {
        for (int b = 0; b < l; ++b)
          ASSERT_NEAR(gram.at(matrix, a, b), a == b ? 1 : 0, 1e-10) << "order " << l;
      }
    }
  }
}

TEST_F(SmallKernelTest, inverse_cholesky_drops_what_depends_on_earlier_columns) {
  // Columns 1, 2, 1 + 2, 0 of an orthonormal pair: S has rank 2.
  const OnDevice<double> s({1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, 0, 0, 0, 0, 0});
  on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), 4, 1, stream); });
  EXPECT_EQ(s.fetch(), (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SmallKernelTest, whiten_and_squared_lengths_turn_the_order_round) {
  const int l = 40, k = 7, stride = 50;
  Matrices w = zeros(l, l);
  std::vector<double> ascending;
  for (int matrix = 0; matrix < kCount; ++matrix) {
    for (int col = 0; col < l; ++col) {
      // the first of the k largest is nothing beside the last
      ascending.push_back(col < l - k ? -1e-20 : col == l - k ? 1e-30 : std::pow(4.0, col - l));
      for (int row = 0; row < l; ++row) w.at(matrix, row, col) = row + 1;
    }
  }
  const OnDevice<double> vectors(w.values), values(ascending),
      out(std::vector<double>(std::size_t(kCount * stride), -7.0)),
      lengths(std::vector<double>(std::size_t(kCount * stride), -7.0));
  on_stream([&](cudaStream_t stream) {
    whiten(vectors.get(), values.get(), l, k, out.get(), stride, kCount, stream);
    squared_lengths(vectors.get(), l, l, lengths.get(), stride, kCount, stream);
  });
  const Matrices found{l, l, vectors.fetch()};
  const std::vector<double> descending = out.fetch(), squares = lengths.fetch();
  const double sum = l * (l + 1.0) * (2 * l + 1) / 6;  // of the squares of 1 .. l
  for (int matrix = 0; matrix < kCount; ++matrix) {
    for (int col = 0; col < l; ++col) {
      const double value = std::max(0.0, ascending[std::size_t(matrix * l + col)]);
      const double scale = col < l - k ? 1 : col == l - k ? 0 : 1 / std::sqrt(value);
      const std::size_t at = std::size_t(matrix * stride + l - 1 - col);
      EXPECT_EQ(descending[at], value);
      EXPECT_NEAR(found.at(matrix, 2, col), 3 * scale, 1e-12 * scale);
      EXPECT_NEAR(squares[at], sum * scale * scale, 1e-12 * sum * scale * scale);
    }
  }
}

TEST_F(SmallKernelTest, project_is_as_good_as_float32_and_measures) {
  for (const auto& [m, n, columns] :
       std::vector<std::array<int, 3>>{{16, 16, 16}, {160, 144, 48}, {528, 272, 112}}) {
    for (const bool two_parts : {false, true}) {
      const float scale = 0.25F;
      const int stride = columns + 3;
      std::uniform_real_distribution<double> uniform(-1, 1);
      Matrices a_t = zeros(n, m), u = zeros(m, columns);
      std::vector<__half> a_hi, a_lo, u_split(2 * u.values.size());
      for (double& value : a_t.values) {  // of one sign, as pixels are
        a_hi.push_back(__float2half_rn(float(std::floor(128 + 127 * uniform(random_)))));
        a_lo.push_back(__float2half_rn(float(two_parts ? 0.01 * uniform(random_) : 0)));
        value = real(a_hi.back()) + real(a_lo.back());
      }
      const std::size_t block = std::size_t(m * columns);
      for (std::size_t i = 0; i < u.values.size(); ++i) {
        // the first column of one sign too
        const double value =
            i % block < std::size_t(m) ? 1 + 0.1 * uniform(random_) : uniform(random_);
        const std::size_t at = i / block * 2 * block + i % block;
        u_split[at] = __float2half_rn(float(value));
        u_split[at + block] = __float2half_rn(float(value - real(u_split[at])));
        u.values[i] = real(u_split[at]) + real(u_split[at + block]);
      }
      const OnDevice<__half> hi(a_hi), lo(a_lo), u_on_device(u_split);
      const OnDevice<__half> v(std::vector<__half>(std::size_t(2 * kCount * n * columns)));
      const OnDevice<float> tiles(
          std::vector<float>(std::size_t(kCount * project_tiles(n) * columns), -7.0F));
      const OnDevice<double> lengths(std::vector<double>(std::size_t(kCount * stride), -7.0));
      on_stream([&](cudaStream_t stream) {
        project(hi.get(), two_parts ? lo.get() : nullptr, u_on_device.get(), m, n, columns, scale,
                v.get(), tiles.get(), lengths.get(), stride, kCount, stream);
      });
      const std::vector<__half> found = v.fetch();
      const std::vector<double> found_lengths = lengths.fetch();
      for (int matrix = 0; matrix < kCount; ++matrix) {
        for (int col = 0; col < columns; ++col) {
          double squared = 0;
          for (int row = 0; row < n; ++row) {
            double expected = 0, size = 0;
            for (int k = 0; k < m; ++k) {
              const double term = double(scale) * a_t.at(matrix, row, k) * u.at(matrix, k, col);
              expected += term;
              size += std::abs(term);
            }
            const std::size_t at = std::size_t((2 * matrix * columns + col) * n + row),
                              behind = std::size_t(n * columns);
            ASSERT_NEAR(real(found[at]) + real(found[at + behind]), expected, 6e-7 * size)
                << m << " x " << n << ", column " << col;
            squared += expected * expected;
          }
          ASSERT_NEAR(found_lengths[std::size_t(matrix * stride + col)], squared, 1e-5 * squared);
        }
      }
    }
  }
}

}  // namespace
}  // namespace eckart::cuda
