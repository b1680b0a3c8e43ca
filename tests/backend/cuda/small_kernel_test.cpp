// Tests of the kernels for Gram matrices and small eigenproblems, against float64.
#include "compute/cuda/kernels/gram_float64.hpp"
#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/reorthonormalize.hpp"
#include "compute/cuda/kernels/ritz_vectors.hpp"
#include "compute/cuda/kernels/small_svd.hpp"
#include "tests/backend/cuda/small_kernel_fixture.hpp"

namespace eckart::compute::cuda {
namespace {

TEST_F(SmallKernelTest, computes_gram_matrices_in_float64_precision) {
  for (const int l : kOrders) {
    const int rows = 4 * ((l + 50) / 4);
    Matrices b = graded(rows, l);
    for (double& value : b.values) value = double(float(value));
    const DeviceArray<float> on_device(b.to_float32());
    const DeviceArray<double> s(std::vector<double>(std::size_t(kCount * l * l), -7.0));
    on_stream([&](cudaStream_t stream) {
      gram_float64(on_device.get(), rows, l, s.get(), kCount, stream);
    });
    const Matrices expected = transposed_product(b, b), found{l, l, s.copy_to_host()};
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

TEST_F(SmallKernelTest, computes_singular_values_and_left_vectors) {
  for (const int l : kOrders) {
    const int rows = l + 30, k = l / 2 - 3, columns = (k + 15) / 16 * 16, stride = l + 5;
    Matrices b = graded(rows, l);
    for (int row = 0; row < rows; ++row) b.at(1, row, 3) = 0;  // a zero column
    for (int row = 0; row < rows; ++row)
      b.at(2, row, 5) = 2 * b.at(2, row, 4);  // a dependent column
    const Matrices gram = transposed_product(b, b);
    const DeviceArray<double> s(gram.values),
        sigma_squared(std::vector<double>(std::size_t(kCount * stride), -7.0));
    const DeviceArray<float> work(std::vector<float>(std::size_t(kCount * l * l), -7.0F));
    const DeviceArray<int> info(std::vector<int>(kCount, -7)), ill_conditioned(info.copy_to_host());
    const DeviceSmallMatrices m(l, columns);
    on_stream([&](cudaStream_t stream) {
      small_svd(s.get(), l, k, columns, sigma_squared.get(), stride, m.get(), work.get(),
                info.get(), ill_conditioned.get(), kCount, stream);
    });
    EXPECT_EQ(info.copy_to_host(), std::vector<int>(kCount, 0));
    EXPECT_EQ(ill_conditioned.copy_to_host(), std::vector<int>(kCount, 0));
    const std::vector<double> found = sigma_squared.copy_to_host();
    const Matrices by = m.copy_to_host();
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

TEST_F(SmallKernelTest, flags_ill_conditioned_columns_in_small_svd) {
  const int l = 16, rows = 40;
  Matrices b = graded(rows, l);
  // about 70 times as long
  for (int row = 0; row < rows; ++row) b.at(1, row, 7) += 0.45 * b.at(1, row, 2);
  const DeviceArray<double> s(transposed_product(b, b).values),
      sigma_squared(std::vector<double>(kCount * l, -7.0));
  const DeviceArray<float> work(std::vector<float>(kCount * l * l, -7.0F));
  const DeviceArray<int> info(std::vector<int>(kCount, -7)), ill_conditioned(info.copy_to_host());
  const DeviceSmallMatrices m(l, l);
  on_stream([&](cudaStream_t stream) {
    small_svd(s.get(), l, l, l, sigma_squared.get(), l, m.get(), work.get(), info.get(),
              ill_conditioned.get(), kCount, stream);
  });
  EXPECT_EQ(ill_conditioned.copy_to_host(), (std::vector<int>{0, 1, 0}));
}

TEST_F(SmallKernelTest, handles_nan_and_infinity_in_small_svd) {
  const int l = 48, rows = 60;
  const Matrices b = graded(rows, l);
  Matrices gram = transposed_product(b, b);
  for (int i = 0; i < l * l; ++i)
    gram.values[std::size_t(l * l + i)] = std::numeric_limits<double>::quiet_NaN();
  gram.at(2, 5, 5) = std::numeric_limits<double>::infinity();
  const DeviceArray<double> s(gram.values), sigma_squared(std::vector<double>(kCount * l, -7.0));
  const DeviceArray<float> work(std::vector<float>(std::size_t(kCount * l * l), -7.0F));
  const DeviceArray<int> info(std::vector<int>(kCount, -7)), ill_conditioned(info.copy_to_host());
  const DeviceSmallMatrices m(l, l);
  on_stream([&](cudaStream_t stream) {
    small_svd(s.get(), l, l, l, sigma_squared.get(), l, m.get(), work.get(), info.get(),
              ill_conditioned.get(), kCount, stream);
  });
  EXPECT_EQ(info.copy_to_host()[0], 0);
  EXPECT_EQ(info.copy_to_host()[2], 1);
  for (const double value : sigma_squared.copy_to_host())
    EXPECT_TRUE(std::isfinite(value) && value >= 0);
  for (const double value : m.copy_to_host().values) EXPECT_TRUE(std::isfinite(value));
}

TEST_F(SmallKernelTest, restores_orthonormal_columns_by_reorthonormalize) {
  for (const int columns : {16, 48, 128}) {
    const int m = columns + 72;
    const float scale = 8;
    Matrices u = zeros(m, columns);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (int col = 0; col + 1 < columns; ++col) {  // the last column stays zero
        for (int row = 0; row < m; ++row) u.at(matrix, row, col) = uniform(random_);
        for (int pass = 0; pass < 2; ++pass) {
          for (int other = 0; other < col; ++other)
            add_column(u, matrix, other, col, -column_dot(u, matrix, other, col));
        }
        add_column(u, matrix, col, col, 1 / std::sqrt(column_dot(u, matrix, col, col)) - 1);
      }
      for (int col = 0; col + 1 < columns; ++col)
        add_column(u, matrix, (col * 7 + 3) % columns, col, 1e-4);
    }
    std::vector<__half> float16_values;
    for (int matrix = 0; matrix < kCount; ++matrix) {
      for (const bool lo : {false, true}) {
        for (int i = 0; i < m * columns; ++i) {
          const auto value = scale * float(u.values[std::size_t(matrix * m * columns + i)]);
          const __half hi = __float2half_rn(value);
          float16_values.push_back(lo ? __float2half_rn(value - __half2float(hi)) : hi);
        }
      }
    }
    const DeviceArray<__half> split(float16_values);
    const DeviceArray<int> needs_correction({1, 0, 1});
    const DeviceArray<float> work(
        std::vector<float>(std::size_t(kCount * columns * columns), -7.0F));
    on_stream([&](cudaStream_t stream) {
      reorthonormalize(split.get(), m, columns, scale, needs_correction.get(), work.get(), kCount,
                       stream);
    });
    const std::vector<__half> found = split.copy_to_host();
    Matrices result = zeros(m, columns);
    const auto block = std::size_t(m * columns);
    for (std::size_t i = 0; i < result.values.size(); ++i) {
      const std::size_t hi = i / block * 2 * block + i % block;
      result.values[i] = (to_double(found[hi]) + to_double(found[hi + block])) / double(scale);
      if (i / block == 1) {
        ASSERT_EQ(to_double(found[hi]), to_double(float16_values[hi]))
            << "not selected for correction";
      }
    }
    const Matrices gram = transposed_product(result, result);
    for (const int matrix : {0, 2}) {
      const double norm = std::sqrt(column_dot(u, matrix, 0, 0));
      for (int row = 0; row < m; ++row) {
        ASSERT_NEAR(result.at(matrix, row, 0), u.at(matrix, row, 0) / norm, 1e-6)
            << "the first column must not depend on the others";
      }
      for (int i = 0; i < columns; ++i) {
        for (int j = 0; j < columns; ++j)
          ASSERT_NEAR(gram.at(matrix, i, j), i == j && i + 1 < columns ? 1 : 0, 1e-6);
      }
    }
  }
}

TEST_F(SmallKernelTest, makes_columns_orthonormal_by_inverse_cholesky_in_float64) {
  for (const int l : {1, 2, 16, 33, 48, 96, 160, 192}) {
    const int rows = l + 40;
    const Matrices y = graded(rows, l);
    const DeviceArray<double> s(transposed_product(y, y).values);
    on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), l, kCount, stream); });
    const Matrices inverse{l, l, s.copy_to_host()};
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

TEST_F(SmallKernelTest, zeroes_dependent_columns_in_inverse_cholesky) {
  // Columns e1, e2, e1 + e2 and 0: S has rank 2.
  const DeviceArray<double> s({1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, 0, 0, 0, 0, 0});
  on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), 4, 1, stream); });
  EXPECT_EQ(s.copy_to_host(),
            (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(SmallKernelTest, reverses_the_order_in_whiten_and_squared_column_norms) {
  const int l = 40, k = 7, stride = 50;
  Matrices w = zeros(l, l);
  std::vector<double> ascending;
  for (int matrix = 0; matrix < kCount; ++matrix) {
    for (int col = 0; col < l; ++col) {
      // the smallest of the k values is negligible beside the largest
      ascending.push_back(col < l - k ? -1e-20 : col == l - k ? 1e-30 : std::pow(4.0, col - l));
      for (int row = 0; row < l; ++row) w.at(matrix, row, col) = row + 1;
    }
  }
  const DeviceArray<double> vectors(w.values), values(ascending),
      out(std::vector<double>(std::size_t(kCount * stride), -7.0)),
      norms(std::vector<double>(std::size_t(kCount * stride), -7.0));
  on_stream([&](cudaStream_t stream) {
    whiten(vectors.get(), values.get(), l, k, out.get(), stride, kCount, stream);
    squared_column_norms(vectors.get(), l, l, norms.get(), stride, kCount, stream);
  });
  const Matrices found{l, l, vectors.copy_to_host()};
  const std::vector<double> descending = out.copy_to_host(), squares = norms.copy_to_host();
  const double sum = l * (l + 1.0) * (2 * l + 1) / 6;  // sum of the squares of 1 .. l
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

}  // namespace
}  // namespace eckart::compute::cuda
