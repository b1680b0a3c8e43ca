// Each kernel against a few lines of plain C++, over a table of shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/raii.hpp"

namespace eckart::cuda {
namespace {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(const std::vector<T>& values) : size_(values.size()) {
    buffer_.reserve(std::max<std::size_t>(1, size_ * sizeof(T)));
    ECKART_CUDA_CHECK(cudaMemcpy(get(), values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice));
  }
  T* get() const { return buffer_.template as<T>(); }
  std::vector<T> fetch() const {
    std::vector<T> values(size_);
    ECKART_CUDA_CHECK(cudaMemcpy(values.data(), get(), size_ * sizeof(T), cudaMemcpyDeviceToHost));
    return values;
  }

 private:
  std::size_t size_;
  DeviceBuffer buffer_;
};

struct Shape {
  int rows, cols, channels, sample_bytes;
};

class KernelTest : public ::testing::Test {
 protected:
  void SetUp() override {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
  }

  /// Random images of these shapes packed one after the other, a plane each channel, and one empty place.
  void pack(const std::vector<Shape>& shapes) {
    for (const Shape& s : shapes) {
      const auto offset = std::int64_t(pixels_.size());
      for (int c = 0; c < s.channels; ++c) planes_.push_back({offset, s.rows, s.cols, s.channels, c, s.sample_bytes});
      const std::size_t bytes = std::size_t(s.rows * s.cols * s.channels * s.sample_bytes);
      for (std::size_t i = 0; i < (bytes + 15) / 16 * 16; ++i) pixels_.push_back(std::byte(random_() & 255));
      m_ = std::max({m_, s.rows, s.cols});
      n_ = std::max(n_, std::min(s.rows, s.cols));
    }
    planes_.push_back({0, 0, 0, 1, 0, 1});
  }

  int sample(const std::vector<std::byte>& from, const Plane& plane, int i, int j) const {
    const int row = plane.rows >= plane.cols ? i : j, col = plane.rows >= plane.cols ? j : i;
    const std::size_t at = std::size_t((row * plane.cols + col) * plane.channels + plane.channel);
    const std::byte* image = from.data() + plane.offset_bytes;
    return plane.sample_bytes == 1 ? reinterpret_cast<const std::uint8_t*>(image)[at]
                                   : reinterpret_cast<const std::uint16_t*>(image)[at];
  }

  std::mt19937 random_{1};
  std::vector<std::byte> pixels_;
  std::vector<Plane> planes_;
  int m_ = 0, n_ = 0;
};

const std::vector<Shape> kShapes{{64, 64, 1, 1}, {96, 33, 1, 1}, {33, 96, 1, 1}, {1, 70, 1, 1},  {70, 1, 3, 1},
                                 {1, 1, 1, 1},   {65, 64, 3, 1}, {17, 80, 3, 2}, {80, 17, 1, 2}, {128, 96, 1, 1}};

TEST_F(KernelTest, unpack_gives_padded_matrices_with_the_long_side_first) {
  pack(kShapes);
  const OnDevice<std::byte> pixels(pixels_);
  const OnDevice<Plane> planes(planes_);
  const std::size_t matrix = std::size_t(m_) * std::size_t(n_);
  const OnDevice<double> a_t(std::vector<double>(planes_.size() * matrix, -1.0));  // poisoned
  unpack(pixels.get(), planes.get(), int(planes_.size()), m_, n_, a_t.get(), nullptr);
  const std::vector<double> found = a_t.fetch();
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const Plane& plane = planes_[p];
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) {
        const double expected = i < plane.m() && j < plane.n() ? sample(pixels_, plane, i, j) : 0;
        ASSERT_EQ(found[p * matrix + std::size_t(i * n_ + j)], expected) << "plane " << p << ' ' << i << ',' << j;
      }
    }
  }
}

TEST_F(KernelTest, reconstruct_multiplies_clamps_rounds_and_measures) {
  pack(kShapes);
  const int k = 19, count = int(planes_.size());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> p_host(std::size_t(count) * std::size_t(m_ * k)), v_host(std::size_t(count) * std::size_t(n_ * k));
  for (double& value : p_host) value = 150 * uniform(random_) + 60;
  for (double& value : v_host) value = uniform(random_);
  for (const bool ascending : {false, true}) {
    const OnDevice<std::byte> pixels(pixels_), out(std::vector<std::byte>(pixels_.size(), std::byte{0xA5}));
    const OnDevice<Plane> planes(planes_);
    const OnDevice<double> p(p_host), v(v_host);
    const int tiles = reconstruct_tiles(m_, n_);
    const OnDevice<TileError> errors(std::vector<TileError>(std::size_t(count * tiles), {99, 99.0}));
    const Factors factors{p.get() + (ascending ? (k - 1) * m_ : 0), v.get() + (ascending ? (k - 1) * n_ : 0),
                          m_ * k, n_ * k, ascending ? -m_ : m_, ascending ? -n_ : n_};
    reconstruct(pixels.get(), planes.get(), count, m_, n_, k, factors, out.get(), errors.get(), nullptr);
    const std::vector<std::byte> found = out.fetch();
    const std::vector<TileError> found_errors = errors.fetch();
    for (int q = 0; q < count; ++q) {
      const Plane& plane = planes_[std::size_t(q)];
      const int top = plane.sample_bytes == 1 ? 255 : 65535;
      double residual = 0, squared_error = 0;
      for (int i = 0; i < plane.m(); ++i) {
        for (int j = 0; j < plane.n(); ++j) {
          double value = 0;
          for (int t = 0; t < std::min(k, plane.n()); ++t) {
            const int column = ascending ? k - 1 - t : t;
            value += p_host[std::size_t((q * k + column) * m_ + i)] * v_host[std::size_t((q * k + column) * n_ + j)];
          }
          const double stored = std::nearbyint(std::clamp(value, 0.0, double(top)));
          if (std::abs(value - std::floor(value) - 0.5) > 1e-9) {
            ASSERT_EQ(sample(found, plane, i, j), stored) << "plane " << q << ' ' << i << ',' << j;
          }
          residual += std::pow(value - sample(pixels_, plane, i, j), 2);
          squared_error += std::pow(stored - sample(pixels_, plane, i, j), 2);
        }
      }
      double found_residual = 0, found_squared_error = 0;
      for (int t = 0; t < tiles; ++t) {
        found_residual += found_errors[std::size_t(q * tiles + t)].residual;
        found_squared_error += double(found_errors[std::size_t(q * tiles + t)].squared_error);
      }
      EXPECT_EQ(found_squared_error, squared_error);
      EXPECT_NEAR(found_residual, residual, 1e-9 * residual);
    }
  }
}

}  // namespace
}  // namespace eckart::cuda
