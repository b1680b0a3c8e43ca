// The kernels of eckart bench, compiled for the host.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "bench/operation/operation.hpp"
#include "tests/unit/bench/cuda_on_host.hpp"
//
#include "bench/cuda/kernels/add_coalesced.cuh"
#include "bench/cuda/kernels/add_strided.cuh"
#include "bench/cuda/kernels/multiply_naive.cuh"
#include "bench/cuda/kernels/multiply_register_tiles.cuh"
#include "bench/cuda/kernels/multiply_shared_tiles.cuh"
#include "bench/cuda/kernels/multiply_tensor_cores.cuh"
#include "bench/cuda/kernels/multiply_vector_block_per_row.cuh"
#include "bench/cuda/kernels/multiply_vector_thread_per_row.cuh"
#include "bench/cuda/kernels/multiply_vector_warp_per_row.cuh"
#include "bench/cuda/kernels/pixels_and_errors.cuh"
#include "bench/cuda/kernels/scale_rows.cuh"
#include "bench/cuda/kernels/to_pixels.cuh"
#include "bench/cuda/kernels/transpose_naive.cuh"
#include "bench/cuda/kernels/transpose_shared_tiles.cuh"

namespace eckart::bench::cuda {
namespace {

using cuda_on_host::launch;

unsigned parts(int size, unsigned part) { return (unsigned(size) + part - 1) / part; }

/// Runs a kernel on random operands, and expects the accuracy of its type. `run` gets the operands
/// and the result.
template <class Real, class Run>
void expect_right(const Shape& shape, const Run& run) {
  const std::vector<Array> operands = random_operands(shape, 7);
  std::vector<const Real*> pointers;
  for (const Array& operand : operands)
    pointers.push_back(std::get<std::vector<Real>>(operand).data());
  std::vector<Real> result(shape.result_size(), std::numeric_limits<Real>::quiet_NaN());
  run(pointers, result.data());
  EXPECT_LE(Reference(shape, operands).relative_error(result), max_relative_error(shape))
      << shape.m << " x " << shape.n << ", k = " << shape.k;
}

template <class Real>
constexpr Precision kPrecision =
    std::is_same_v<Real, float> ? Precision::float32 : Precision::float64;

/// Square, tall, wide and odd products.
template <class Real, class Run>
void expect_right_products(Operation operation, const Run& run) {
  for (const auto& [m, n, k] : {std::tuple{64, 64, 32}, {130, 33, 5}, {17, 150, 40}, {1, 1, 1}}) {
    const Shape shape{
        .operation = operation, .precision = kPrecision<Real>, .m = m, .n = n, .k = k};
    expect_right<Real>(shape, [&](const std::vector<const Real*>& o, Real* c) {
      const Real* const s = operation == Operation::reconstruct ? o[1] : nullptr;
      run(o.front(), s, o.back(), c, shape);
    });
  }
}

TEST(GpuKernel, multiplies_right_with_a_thread_for_each_element) {
  for (const dim3 block : {dim3{8, 8}, dim3{32, 4}}) {
    const auto grid = [&](const Shape& s) {
      return dim3{parts(s.n, block.x), parts(s.m, block.y)};
    };
    expect_right_products<float>(
        Operation::reconstruct,
        [&](const float* a, const float* s, const float* b, float* c, const Shape& shape) {
          launch(grid(shape), block,
                 [&] { multiply_naive<float, true>(a, s, b, c, shape.m, shape.n, shape.k); });
        });
    expect_right_products<double>(
        Operation::multiply,
        [&](const double* a, const double* s, const double* b, double* c, const Shape& shape) {
          launch(grid(shape), block,
                 [&] { multiply_naive<double, false>(a, s, b, c, shape.m, shape.n, shape.k); });
        });
  }
}

TEST(GpuKernel, multiplies_right_with_tiles_in_shared_memory) {
  constexpr int kTile = 16;
  const auto grid = [](const Shape& s) { return dim3{parts(s.n, kTile), parts(s.m, kTile)}; };
  expect_right_products<float>(
      Operation::reconstruct,
      [&](const float* a, const float* s, const float* b, float* c, const Shape& shape) {
        launch(grid(shape), {kTile, kTile}, [&] {
          multiply_shared_tiles<float, true, kTile>(a, s, b, c, shape.m, shape.n, shape.k);
        });
      });
  expect_right_products<double>(
      Operation::multiply,
      [&](const double* a, const double* s, const double* b, double* c, const Shape& shape) {
        launch(grid(shape), {kTile, kTile}, [&] {
          multiply_shared_tiles<double, false, kTile>(a, s, b, c, shape.m, shape.n, shape.k);
        });
      });
}

template <class Real, bool kIsScaled, int kSide>
void expect_right_register_tiles() {
  expect_right_products<Real>(
      kIsScaled ? Operation::reconstruct : Operation::multiply,
      [&](const Real* a, const Real* s, const Real* b, Real* c, const Shape& shape) {
        constexpr unsigned kTile = kRegisterThreads * kSide;
        launch({parts(shape.n, kTile), parts(shape.m, kTile)}, {kRegisterThreads, kRegisterThreads},
               [&] {
                 multiply_register_tiles<Real, kIsScaled, kSide>(a, s, b, c, shape.m, shape.n,
                                                                 shape.k);
               });
      });
}

TEST(GpuKernel, multiplies_right_with_tiles_in_registers) {
  expect_right_register_tiles<float, true, 4>();
  expect_right_register_tiles<float, true, 8>();
  expect_right_register_tiles<double, false, 4>();
}

TEST(GpuKernel, multiplies_right_on_tensor_cores) {
  expect_right_products<float>(
      Operation::reconstruct,
      [&](const float* a, const float* s, const float* b, float* c, const Shape& shape) {
        launch({parts(shape.n, kTensorTile), parts(shape.m, kTensorTile)}, {kTensorThreads},
               [&] { multiply_tensor_cores<true>(a, s, b, c, shape.m, shape.n, shape.k); });
      });
}

TEST(GpuKernel, transposes_right) {
  for (const auto& [m, n] : {std::pair{64, 64}, {70, 33}, {1, 95}}) {
    const Shape shape{.operation = Operation::transpose, .m = m, .n = n};
    expect_right<float>(shape, [&, m = m, n = n](const std::vector<const float*>& o, float* c) {
      launch({parts(n, 32), parts(m, 8)}, {32, 8}, [&] { transpose_naive(o[0], c, m, n); });
    });
    const dim3 grid{parts(n, kTransposeTile), parts(m, kTransposeTile)};
    expect_right<float>(shape, [&, m = m, n = n](const std::vector<const float*>& o, float* c) {
      launch(grid, {kTransposeTile, kTransposeRows},
             [&] { transpose_shared_tiles<float, 0>(o[0], c, m, n); });
    });
    expect_right<float>(shape, [&, m = m, n = n](const std::vector<const float*>& o, float* c) {
      launch(grid, {kTransposeTile, kTransposeRows},
             [&] { transpose_shared_tiles<float, 1>(o[0], c, m, n); });
    });
  }
}

TEST(GpuKernel, adds_right) {
  const Shape shape{.operation = Operation::add, .n = 1000};
  expect_right<float>(shape, [&](const std::vector<const float*>& o, float* c) {
    launch({3}, {64}, [&] { add_coalesced(o[0], o[1], c, shape.n); });
  });
  expect_right<float>(shape, [&](const std::vector<const float*>& o, float* c) {
    launch({3}, {64}, [&] { add_strided(o[0], o[1], c, shape.n); });
  });
}

TEST(GpuKernel, multiplies_vectors_right) {
  for (const auto& [m, n] : {std::pair{64, 64}, {130, 300}, {3, 1}}) {
    const Shape shape{.operation = Operation::multiply_vector, .m = m, .n = n};
    const auto expect = [&](dim3 grid, dim3 block, const auto& kernel) {
      expect_right<float>(shape, [&](const std::vector<const float*>& o, float* c) {
        launch(grid, block, [&] { kernel(o[0], o[1], c); });
      });
    };
    const auto sizes = [m = m, n = n](const auto& call) {
      return [=](const float* a, const float* b, float* c) { call(a, b, c, m, n); };
    };
    expect({parts(m, kRowThreads)}, {kRowThreads},
           sizes(multiply_vector_thread_per_row<float, false>));
    expect({parts(m, kRowThreads)}, {kRowThreads},
           sizes(multiply_vector_thread_per_row<float, true>));
    expect({parts(m, kRowWarps)}, {32, kRowWarps}, sizes(multiply_vector_warp_per_row<float>));
    expect({unsigned(m)}, {kBlockThreads}, [n = n](const float* a, const float* b, float* c) {
      multiply_vector_block_per_row(a, b, c, n);
    });
  }
}

TEST(GpuKernel, scales_the_rows_of_each_matrix_of_a_batch) {
  constexpr std::size_t kRows = 3, kColumns = 40, kMatrices = 2, kScaleStride = 5, kStride = 130;
  std::vector<float> scales(kMatrices * kScaleStride), values(kMatrices * kStride, 2);
  std::iota(scales.begin(), scales.end(), 1.0F);
  launch({parts(kColumns, 32), kRows, kMatrices}, {32},
         [&] { scale_rows(scales.data(), values.data(), kRows, kColumns, kScaleStride, kStride); });
  for (std::size_t matrix = 0; matrix < kMatrices; ++matrix) {
    for (std::size_t at = 0; at < kStride; ++at) {
      const bool is_inside = at < kRows * kColumns;
      const float scale = is_inside ? scales[matrix * kScaleStride + at / kColumns] : 1.0F;
      EXPECT_EQ(values[matrix * kStride + at], 2 * scale) << matrix << ", " << at;
    }
  }
}

TEST(GpuKernel, rounds_and_clamps_pixels) {
  const std::vector<float4> values = {{-3, 0.4F, 0.6F, 1.5F}, {2.5F, 254.6F, 255.4F, 1e9F}};
  std::vector<uchar4> pixels(3, uchar4{7, 7, 7, 7});
  launch({1}, {32}, [&] { to_pixels(values.data(), pixels.data(), int(values.size())); });
  const auto numbers = [&](std::size_t i) {
    return std::vector<int>{pixels[i].x, pixels[i].y, pixels[i].z, pixels[i].w};
  };
  EXPECT_EQ(numbers(0), (std::vector{0, 0, 1, 2}));
  EXPECT_EQ(numbers(1), (std::vector{2, 255, 255, 255}));
  EXPECT_EQ(numbers(2), (std::vector{7, 7, 7, 7}));
}

template <class Real>
void expect_pixels_and_errors() {
  constexpr int kQuads = kErrorThreads * kErrorQuads + 100, kImages = 2;  // two blocks an image
  constexpr unsigned kBlocks = 2;
  std::vector<PixelQuad<Real>> values(kQuads * kImages);
  std::vector<PixelQuad<unsigned char>> originals(values.size()), pixels(values.size());
  std::vector<PixelErrors> errors(std::size_t(kBlocks) * kImages);
  std::array<PixelErrors, kImages> expected{};
  std::vector<int> expected_pixels, found_pixels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t e = 0; e < 4; ++e) {
      const double value = double((i * 37 + e * 101) % 1200) / 4 - 20 + 0.1;  // -19.9 to 279.85
      const int original = int((i * 13 + e * 7) % 256);
      values[i].at[e] = Real(value);
      originals[i].at[e] = (unsigned char)(original);
      const double rounded = std::nearbyint(std::clamp(value, 0.0, 255.0));
      PixelErrors& sum = expected[i / kQuads];
      sum.squared_norm += original * original;
      sum.squared_error += (rounded - original) * (rounded - original);
      sum.residual += (value - original) * (value - original);
      expected_pixels.push_back(int(rounded));
    }
  }
  launch({kBlocks, kImages}, {kErrorThreads}, [&] {
    pixels_and_errors(values.data(), originals.data(), pixels.data(), errors.data(), kQuads);
  });
  for (const PixelQuad<unsigned char>& quad : pixels)
    found_pixels.insert(found_pixels.end(), std::begin(quad.at), std::end(quad.at));
  EXPECT_EQ(found_pixels, expected_pixels);
  for (std::size_t image = 0; image < kImages; ++image) {
    const PixelErrors &a = errors[image * kBlocks], &b = errors[image * kBlocks + 1];
    EXPECT_EQ(a.squared_norm + b.squared_norm, expected[image].squared_norm);
    EXPECT_EQ(a.squared_error + b.squared_error, expected[image].squared_error);
    EXPECT_NEAR(a.residual + b.residual, expected[image].residual, 1e-6 * expected[image].residual);
  }
}

TEST(GpuKernel, rounds_pixels_and_adds_their_errors) {
  expect_pixels_and_errors<float>();
  expect_pixels_and_errors<double>();
}

}  // namespace
}  // namespace eckart::bench::cuda
