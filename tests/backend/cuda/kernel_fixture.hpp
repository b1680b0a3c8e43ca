#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/layout/plane_layout.hpp"
#include "compute/cuda/raii.hpp"
#include "tests/backend/cuda/device_array.hpp"
#include "tests/backend/cuda/gpu_unavailable_message.hpp"

namespace eckart::compute::cuda {

struct Shape {
  int rows, cols, channels, sample_bytes;
};

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string message = gpu_unavailable_message(); !message.empty())
      GTEST_SKIP() << message;
  }

  /// Captures the launcher's work as a graph and runs it. A kernel on another stream is missing in
  /// the graph; a kernel on the default stream makes the capture fail.
  template <class Launch>
  static void on_stream(Launch&& launch) {
    const Stream stream = ECKART_CUDA_HANDLE(Stream, cudaStreamCreate);
    ECKART_CUDA_CHECK(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeGlobal));
    launch(stream.get());
    cudaGraph_t graph = nullptr;
    ECKART_CUDA_CHECK(cudaStreamEndCapture(stream.get(), &graph));
    std::size_t kernels = 0;
    ECKART_CUDA_CHECK(cudaGraphGetNodes(graph, nullptr, &kernels));
    EXPECT_GE(kernels, 1u);
    cudaGraphExec_t runnable = nullptr;
    ECKART_CUDA_CHECK(cudaGraphInstantiate(&runnable, graph, 0));
    ECKART_CUDA_CHECK(cudaGraphLaunch(runnable, stream.get()));
    ECKART_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
    ECKART_CUDA_CHECK(cudaGraphExecDestroy(runnable));
    ECKART_CUDA_CHECK(cudaGraphDestroy(graph));
  }

  void clear() {
    pixels_.clear();
    planes_.clear();
    m_ = n_ = 0;
  }
  /// Appends random images of these shapes, with one plane per channel, and one empty plane.
  void pack(const std::vector<Shape>& shapes) {
    for (const Shape& s : shapes) {
      const auto offset = std::int64_t(pixels_.size());
      for (int c = 0; c < s.channels; ++c)
        planes_.push_back({offset, s.rows, s.cols, s.channels, c, s.sample_bytes, 1});
      const std::size_t bytes = std::size_t(s.rows) * std::size_t(s.cols) *
                                std::size_t(s.channels) * std::size_t(s.sample_bytes);
      for (std::size_t i = 0; i < (bytes + 15) / 16 * 16; ++i)
        pixels_.push_back(std::byte(random_() & 255));
      m_ = std::max({m_, s.rows, s.cols});
      n_ = std::max(n_, std::min(s.rows, s.cols));
    }
    planes_.push_back({0, 0, 0, 1, 0, 1, 1});
  }

  int sample(const std::vector<std::byte>& from, const PlaneLayout& plane, int i, int j) const {
    const int row = plane.rows >= plane.cols ? i : j, col = plane.rows >= plane.cols ? j : i;
    const std::size_t at = std::size_t(row * plane.cols + col) * std::size_t(plane.channels) +
                           std::size_t(plane.channel);
    const std::byte* image = from.data() + plane.offset_bytes;
    return plane.sample_bytes == 1 ? reinterpret_cast<const std::uint8_t*>(image)[at]
                                   : reinterpret_cast<const std::uint16_t*>(image)[at];
  }

  /// Expects that the plane's pixels are the rounded values within `tolerance` levels, and that the
  /// tile errors are the sums over them.
  template <class Value>
  void expect_reconstruction(const PlaneLayout& plane, Value value_at, double tolerance,
                             const std::vector<std::byte>& found,
                             std::span<const TileError> errors) const {
    const int top = plane.sample_bytes == 1 ? 255 : 65535;
    double squared_norm = 0, residual = 0, squared_error = 0, difference = 0;
    for (int i = 0; i < plane.m(); ++i) {
      for (int j = 0; j < plane.n(); ++j) {
        const double value = value_at(i, j);
        const int in = sample(pixels_, plane, i, j), out = sample(found, plane, i, j);
        ASSERT_LE(std::abs(out - std::clamp(value, 0.0, double(top))), 0.5 + tolerance)
            << i << ',' << j;
        squared_norm += std::pow(in, 2);
        residual += std::pow(value - in, 2);
        difference += std::abs(value - in);
        squared_error += std::pow(out - in, 2);
      }
    }
    TileError sum{0, 0, 0.0};
    for (const TileError& error : errors) {
      sum.squared_norm += error.squared_norm;
      sum.squared_error += error.squared_error;
      sum.residual += error.residual;
    }
    EXPECT_EQ(sum.squared_norm, squared_norm);
    EXPECT_EQ(sum.squared_error, squared_error);
    // The values of a kernel are exact within tolerance / 5.
    EXPECT_NEAR(sum.residual, residual, 1e-9 * residual + 2 * tolerance / 5 * difference);
  }

  std::mt19937 random_{1};
  std::vector<std::byte> pixels_;
  std::vector<PlaneLayout> planes_;
  int m_ = 0, n_ = 0;
};

}  // namespace eckart::compute::cuda
