// Tests of the kernels that orthonormalize and rotate blocks of columns, against float64.
#include <array>
#include <exception>
#include <string>
#include <thread>

#include "compute/cuda/kernels/orthonormalizer.hpp"
#include "compute/cuda/kernels/project.hpp"
#include "compute/cuda/kernels/rotate.hpp"
#include "tests/backend/cuda/small_kernel_fixture.hpp"

namespace eckart::compute::cuda {
namespace {

TEST_F(SmallKernelTest, makes_columns_orthonormal_by_orthonormalizer_and_rotate) {
  for (const int l : kOrders) {
    const int rows = 16 * ((l + 79) / 16);
    const float factor = 8;
    Matrices z = graded(rows, l);
    for (int row = 0; row < rows; ++row) {  // a column whose scale exceeds float16
      z.at(2, row, l - 2) = std::ldexp((row * row) % 5 - 2, -22);
    }
    const std::vector<__half> float16_values = z.to_float16();
    std::transform(float16_values.begin(), float16_values.end(), z.values.begin(), to_double);
    for (int row = 0; row < rows; ++row) z.at(1, row, l - 1) = 0;  // a column of zeros
    const DeviceArray<__half> from(z.to_float16());
    const DeviceArray<__half> to(std::vector<__half>(float16_values.size(), __float2half_rn(7.0F)));
    const DeviceArray<float> s(transposed_product(z, z).to_float32());
    const DeviceSmallMatrices m(l, l);
    on_stream([&](cudaStream_t stream) {
      orthonormalizer(s.get(), l, {1e-5F, 1e-6F}, m.get(), kCount, stream);
      rotate(from.get(), rows, l, m.get(), l, true, factor, to.get(), kCount, stream);
    });
    Matrices q = zeros(rows, l);
    const std::vector<__half> found = to.copy_to_host();
    std::transform(found.begin(), found.end(), q.values.begin(),
                   [&](__half value) { return to_double(value) / double(factor); });
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

/// As the lanes of a GPU do.
TEST_F(SmallKernelTest, rotates_blocks_of_different_sizes_at_the_same_time) {
  constexpr int kLaunches = 2000, kRows = 64;
  const auto rotate_often = [](int l, std::string& error) {
    try {
      const auto elements = std::size_t(l) * std::size_t(l);
      const DeviceArray<__half> from(std::vector<__half>(std::size_t(l) * kRows)),
          to(std::vector<__half>(std::size_t(l) * kRows)),
          hi(std::vector<__half>(elements, __half())), lo(std::vector<__half>(elements, __half()));
      const DeviceArray<float> scale(std::vector<float>(std::size_t(l), 1.0F));
      const Stream stream =
          ECKART_CUDA_HANDLE(Stream, cudaStreamCreateWithFlags, cudaStreamNonBlocking);
      for (int i = 0; i < kLaunches; ++i)
        rotate(from.get(), kRows, l, {hi.get(), lo.get(), scale.get()}, l, false, 1, to.get(), 1,
               stream.get());
      ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    } catch (const std::exception& exception) {
      error = exception.what();
    }
  };
  std::string small_error, large_error;
  {
    const std::jthread small([&] { rotate_often(32, small_error); });
    const std::jthread large([&] { rotate_often(160, large_error); });
  }
  EXPECT_EQ(small_error, "");
  EXPECT_EQ(large_error, "");
}

TEST_F(SmallKernelTest, orthonormalizes_dependent_columns) {
  const int l = 32;
  Matrices s = zeros(l, l, 1);
  for (double& value : s.values) value = 1e6;  // l equal columns
  const DeviceArray<float> on_device(s.to_float32());
  const DeviceSmallMatrices m(l, l, 1);
  on_stream([&](cudaStream_t stream) {
    orthonormalizer(on_device.get(), l, {1e-5F, 1e-6F}, m.get(), 1, stream);
  });
  const Matrices found = m.copy_to_host();
  for (const double value : found.values) ASSERT_TRUE(std::isfinite(value));
  EXPECT_NEAR(found.at(0, 0, 0), 1e-3, 1e-6);
}

TEST_F(SmallKernelTest, drops_columns_that_nearly_depend_on_others) {
  const int l = 16;
  const double pivot = 5e-5;
  Matrices s = zeros(l, l, 1);
  for (int i = 0; i < l; ++i) s.at(0, i, i) = 1;
  s.at(0, 0, 1) = s.at(0, 1, 0) = std::sqrt(1 - pivot);
  const DeviceArray<float> on_device(s.to_float32());
  const DeviceSmallMatrices m(l, l, 1);
  for (const float min_pivot : {1e-7F, 1e-4F}) {
    on_stream([&](cudaStream_t stream) {
      orthonormalizer(on_device.get(), l, {1e-6F, min_pivot}, m.get(), 1, stream);
    });
    const Matrices found = m.copy_to_host();
    const bool is_kept = min_pivot < float(pivot);
    EXPECT_NEAR(found.at(0, 1, 1), is_kept ? 1 / std::sqrt(pivot) : 0, 3);
    EXPECT_NEAR(found.at(0, 2, 2), 1, 1e-3);
  }
}

/// S = R'R with Kahan's matrix R: the inverse grows by a factor of 1.7 per column, until S is
/// rounding in float32.
TEST_F(SmallKernelTest, keeps_entries_of_the_orthonormalizer_within_float16) {
  const int l = 48, good = 12;
  Matrices r = zeros(l, l, 1);
  for (int row = 0; row < l; ++row) {
    for (int col = row; col < l; ++col)
      r.at(0, row, col) = std::pow(0.75, row / 2.0) * (row == col ? 1 : -0.5);
  }
  const DeviceArray<float> s(transposed_product(r, r, 1).to_float32());
  const DeviceSmallMatrices m(l, l, 1);
  on_stream([&](cudaStream_t stream) {
    orthonormalizer(s.get(), l, {1e-9F, 1e-10F}, m.get(), 1, stream);
  });
  const Matrices found = m.copy_to_host();
  for (const double value : found.values) ASSERT_LE(std::abs(value), 2 * 8192);
  for (int col = 0; col < good; ++col) {
    double squared_norm = 0;  // of a column of R M
    for (int i = 0; i < l; ++i) {
      double sum = 0;
      for (int j = i; j <= col; ++j) sum += r.at(0, i, j) * found.at(0, j, col);
      squared_norm += sum * sum;
    }
    EXPECT_NEAR(squared_norm, 1, 0.01) << "column " << col;
  }
}

TEST_F(SmallKernelTest, rotates_split_matrices_in_float32_precision) {
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
          m.at(matrix, row, col) = (to_double(hi.back()) + to_double(lo.back())) *
                                   double(scale[std::size_t(matrix * l + row)]);
        }
      }
    }
    const DeviceArray<float> from(b.to_float32()), scale_on_device(scale);
    const DeviceArray<__half> hi_on_device(hi), lo_on_device(lo);
    const DeviceArray<__half> to(std::vector<__half>(std::size_t(2 * kCount * rows * columns)));
    on_stream([&](cudaStream_t stream) {
      rotate_split(from.get(), rows, l,
                   {hi_on_device.get(), lo_on_device.get(), scale_on_device.get()}, columns, false,
                   factor, to.get(), kCount, stream);
    });
    const std::vector<__half> found = to.copy_to_host();
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
          ASSERT_NEAR((to_double(found[at]) + to_double(found[at + block])) / double(factor),
                      expected, 2e-6 * size + 1e-8)
              << "order " << l;
        }
      }
    }
  }
}

TEST_F(SmallKernelTest, projects_in_float32_precision_and_computes_norms) {
  for (const auto& [m, n, columns] :
       std::vector<std::array<int, 3>>{{16, 16, 16}, {160, 144, 48}, {528, 272, 112}}) {
    for (const bool has_lo : {false, true}) {
      const float scale = 0.25F;
      const int stride = columns + 3;
      std::uniform_real_distribution<double> uniform(-1, 1);
      Matrices a_t = zeros(n, m), u = zeros(m, columns);
      std::vector<__half> a_hi, a_lo, u_split(2 * u.values.size());
      for (double& value : a_t.values) {  // of one sign, like pixels
        a_hi.push_back(__float2half_rn(float(std::floor(128 + 127 * uniform(random_)))));
        a_lo.push_back(__float2half_rn(float(has_lo ? 0.01 * uniform(random_) : 0)));
        value = to_double(a_hi.back()) + to_double(a_lo.back());
      }
      const std::size_t block = std::size_t(m * columns);
      for (std::size_t i = 0; i < u.values.size(); ++i) {
        // the first column also has one sign
        const double value =
            i % block < std::size_t(m) ? 1 + 0.1 * uniform(random_) : uniform(random_);
        const std::size_t at = i / block * 2 * block + i % block;
        u_split[at] = __float2half_rn(float(value));
        u_split[at + block] = __float2half_rn(float(value - to_double(u_split[at])));
        u.values[i] = to_double(u_split[at]) + to_double(u_split[at + block]);
      }
      const DeviceArray<__half> hi(a_hi), lo(a_lo), u_on_device(u_split);
      const DeviceArray<__half> v(std::vector<__half>(std::size_t(2 * kCount * n * columns)));
      const DeviceArray<float> tiles(
          std::vector<float>(std::size_t(kCount * project_tile_count(n) * columns), -7.0F));
      const DeviceArray<double> norms(std::vector<double>(std::size_t(kCount * stride), -7.0));
      on_stream([&](cudaStream_t stream) {
        project(hi.get(), has_lo ? lo.get() : nullptr, u_on_device.get(), m, n, columns, scale,
                v.get(), tiles.get(), norms.get(), stride, kCount, stream);
      });
      const std::vector<__half> found = v.copy_to_host();
      const std::vector<double> found_norms = norms.copy_to_host();
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
                              lo_offset = std::size_t(n * columns);
            ASSERT_NEAR(to_double(found[at]) + to_double(found[at + lo_offset]), expected,
                        6e-7 * size)
                << m << " x " << n << ", column " << col;
            squared += expected * expected;
          }
          ASSERT_NEAR(found_norms[std::size_t(matrix * stride + col)], squared, 1e-5 * squared);
        }
      }
    }
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
