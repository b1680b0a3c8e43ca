// Each kernel against a few lines of plain C++, over a table of shapes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "compute/cuda/kernels/inverse_cholesky.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/ritz_check.hpp"
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
    if (status != cudaSuccess || devices == 0)
      GTEST_SKIP() << "no CUDA device: " << cudaGetErrorString(status);
  }

  /// Captures what the launcher does and runs it: a kernel for another stream than the one given is
  /// missing in the capture, or breaks it where it goes to the default stream.
  template <class Launch>
  static void on_stream(Launch&& launch) {
    const Stream stream = make_handle<Stream>(cudaStreamCreate);
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

  /// Random images of these shapes packed one after the other, a plane each channel, and one empty
  /// place.
  void pack(const std::vector<Shape>& shapes) {
    for (const Shape& s : shapes) {
      const auto offset = std::int64_t(pixels_.size());
      for (int c = 0; c < s.channels; ++c)
        planes_.push_back({offset, s.rows, s.cols, s.channels, c, s.sample_bytes});
      const std::size_t bytes = std::size_t(s.rows * s.cols * s.channels * s.sample_bytes);
      for (std::size_t i = 0; i < (bytes + 15) / 16 * 16; ++i)
        pixels_.push_back(std::byte(random_() & 255));
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

const std::vector<Shape> kShapes{{64, 64, 1, 1}, {96, 33, 1, 1}, {33, 96, 1, 1}, {1, 70, 1, 1},
                                 {70, 1, 3, 1},  {1, 1, 1, 1},   {65, 64, 3, 1}, {17, 80, 3, 2},
                                 {80, 17, 1, 2}, {128, 96, 1, 1}};

TEST_F(KernelTest, unpack_gives_padded_matrices_with_the_long_side_first) {
  pack(kShapes);
  const OnDevice<std::byte> pixels(pixels_);
  const OnDevice<Plane> planes(planes_);
  const std::size_t matrix = std::size_t(m_) * std::size_t(n_);
  const OnDevice<double> a_t(std::vector<double>(planes_.size() * matrix, -1.0));  // poisoned
  on_stream([&](cudaStream_t stream) {
    unpack(pixels.get(), planes.get(), int(planes_.size()), m_, n_, a_t.get(), stream);
  });
  const std::vector<double> found = a_t.fetch();
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const Plane& plane = planes_[p];
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) {
        const double expected = i < plane.m() && j < plane.n() ? sample(pixels_, plane, i, j) : 0;
        ASSERT_EQ(found[p * matrix + std::size_t(i * n_ + j)], expected)
            << "plane " << p << ' ' << i << ',' << j;
      }
    }
  }
}

TEST_F(KernelTest, reconstruct_multiplies_clamps_rounds_and_measures) {
  pack(kShapes);
  const int k = 19, count = int(planes_.size());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> p_host(std::size_t(count) * std::size_t(m_ * k)),
      v_host(std::size_t(count) * std::size_t(n_ * k));
  for (double& value : p_host) value = 150 * uniform(random_) + 60;
  for (double& value : v_host) value = uniform(random_);
  for (const bool ascending : {false, true}) {
    const OnDevice<std::byte> pixels(pixels_),
        out(std::vector<std::byte>(pixels_.size(), std::byte{0xA5}));
    const OnDevice<Plane> planes(planes_);
    const OnDevice<double> p(p_host), v(v_host);
    const int tiles = reconstruct_tiles(m_, n_);
    const OnDevice<TileError> errors(
        std::vector<TileError>(std::size_t(count * tiles), {99, 99, 99.0}));
    const Factors factors{p.get() + (ascending ? (k - 1) * m_ : 0),
                          v.get() + (ascending ? (k - 1) * n_ : 0),
                          m_ * k,
                          n_ * k,
                          ascending ? -m_ : m_,
                          ascending ? -n_ : n_};
    on_stream([&](cudaStream_t stream) {
      reconstruct(pixels.get(), planes.get(), count, m_, n_, k, factors, out.get(), errors.get(),
                  stream);
    });
    const std::vector<std::byte> found = out.fetch();
    const std::vector<TileError> found_errors = errors.fetch();
    for (int q = 0; q < count; ++q) {
      const Plane& plane = planes_[std::size_t(q)];
      const int top = plane.sample_bytes == 1 ? 255 : 65535;
      double squared_norm = 0, residual = 0, squared_error = 0;
      for (int i = 0; i < plane.m(); ++i) {
        for (int j = 0; j < plane.n(); ++j) {
          double value = 0;
          for (int t = 0; t < std::min(k, plane.n()); ++t) {
            const int column = ascending ? k - 1 - t : t;
            value += p_host[std::size_t((q * k + column) * m_ + i)] *
                     v_host[std::size_t((q * k + column) * n_ + j)];
          }
          const double stored = std::nearbyint(std::clamp(value, 0.0, double(top)));
          if (std::abs(value - std::floor(value) - 0.5) > 1e-9) {
            ASSERT_EQ(sample(found, plane, i, j), stored) << "plane " << q << ' ' << i << ',' << j;
          }
          squared_norm += std::pow(sample(pixels_, plane, i, j), 2);
          residual += std::pow(value - sample(pixels_, plane, i, j), 2);
          squared_error += std::pow(stored - sample(pixels_, plane, i, j), 2);
        }
      }
      double found_squared_norm = 0, found_residual = 0, found_squared_error = 0;
      for (int t = 0; t < tiles; ++t) {
        found_squared_norm += double(found_errors[std::size_t(q * tiles + t)].squared_norm);
        found_residual += found_errors[std::size_t(q * tiles + t)].residual;
        found_squared_error += double(found_errors[std::size_t(q * tiles + t)].squared_error);
      }
      EXPECT_EQ(found_squared_norm, squared_norm);
      EXPECT_EQ(found_squared_error, squared_error);
      EXPECT_NEAR(found_residual, residual, 1e-9 * residual);
    }
  }
}

/// Row-major rows x cols of uniform values in [-1, 1), each column scaled by `scale(column)`.
template <class Scale>
std::vector<double> random_matrix(std::mt19937& random, int rows, int cols, Scale scale) {
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> values;
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) values.push_back(uniform(random) * scale(col));
  }
  return values;
}

TEST_F(KernelTest, inverse_cholesky_makes_columns_orthonormal) {
  for (const int l : {1, 2, 16, 33, 48, 96, 160}) {
    const int rows = l + 40, count = 3;
    std::vector<double> y, gram;
    for (int matrix = 0; matrix < count; ++matrix) {
      // columns of very different length, as they come out of a round
      const auto part =
          random_matrix(random_, rows, l, [](int col) { return std::pow(10.0, -(col % 9)); });
      for (int a = 0; a < l; ++a) {
        for (int b = 0; b < l; ++b) {
          double sum = 0;
          for (int row = 0; row < rows; ++row)
            sum += part[std::size_t(row * l + a)] * part[std::size_t(row * l + b)];
          gram.push_back(sum);
        }
      }
      y.insert(y.end(), part.begin(), part.end());
    }
    const OnDevice<double> s(gram);
    on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), l, count, stream); });
    const std::vector<double> inverse = s.fetch();  // column-major
    for (int matrix = 0; matrix < count; ++matrix) {
      std::vector<double> q(std::size_t(rows * l));
      for (int row = 0; row < rows; ++row) {
        for (int col = 0; col < l; ++col) {
          for (int t = 0; t <= col; ++t) {
            q[std::size_t(row * l + col)] += y[std::size_t((matrix * rows + row) * l + t)] *
                                             inverse[std::size_t((matrix * l + col) * l + t)];
          }
        }
      }
      for (int a = 0; a < l; ++a) {
        for (int b = 0; b < l; ++b) {
          double dot = 0;
          for (int row = 0; row < rows; ++row)
            dot += q[std::size_t(row * l + a)] * q[std::size_t(row * l + b)];
          ASSERT_NEAR(dot, a == b ? 1 : 0, 1e-10) << "order " << l;
          if (a > b) {
            ASSERT_EQ(inverse[std::size_t((matrix * l + b) * l + a)], 0) << "below the diagonal";
          }
        }
      }
    }
  }
}

TEST_F(KernelTest, inverse_cholesky_drops_what_depends_on_earlier_columns) {
  // Columns 1, 2, 1 + 2, 0 of an orthonormal pair: S has rank 2.
  const OnDevice<double> s({1, 0, 1, 0, 0, 1, 1, 0, 1, 1, 2, 0, 0, 0, 0, 0});
  on_stream([&](cudaStream_t stream) { inverse_cholesky(s.get(), 4, 1, stream); });
  EXPECT_EQ(s.fetch(), (std::vector<double>{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST_F(KernelTest, ritz_check_tells_settled_pairs_from_others) {
  const int n = 40, l = 8, k = 3;
  std::vector<double> v(2 * n * k), gv(2 * n * k), values;
  for (int matrix = 0; matrix < 2; ++matrix) {
    for (int i = 0; i < l; ++i) values.push_back(std::pow(2.0, i));  // ascending
    for (int i = 0; i < k; ++i) {
      const std::size_t at = std::size_t((matrix * k + i) * n);
      v[at + std::size_t(i)] = 1;
      gv[at + std::size_t(i)] = values[std::size_t(l - k + i)];
    }
  }
  // The second matrix's weakest pair has a residual of 1: its entries move by
  // sqrt(32) / (32 - 4) / sqrt(entries), where 4 is the Ritz value half-way to the last.
  gv[std::size_t(k * n + n - 1)] = 1;
  const double entries = 100, moved = std::sqrt(32.0) / (32 - 4) / std::sqrt(entries);
  std::vector<double> g(2 * n * n);
  for (int matrix = 0; matrix < 2; ++matrix) {
    for (int i = 0; i < l; ++i)
      g[std::size_t((matrix * n + i) * n + i)] = values[std::size_t(i)];  // its trace counts
  }
  const OnDevice<double> g_device(g), v_device(v), gv_device(gv), values_device(values);
  const auto check = [&](double tolerance, std::vector<int> info) {
    const OnDevice<int> info_device(info);
    on_stream([&](cudaStream_t stream) {
      ritz_check({n, l, k, g_device.get(), v_device.get(), gv_device.get(), values_device.get()},
                 entries, tolerance, 2, info_device.get(), stream);
    });
    return info_device.fetch();
  };
  EXPECT_EQ(check(0.99 * moved, {0, 0}), (std::vector<int>{0, 1}));
  EXPECT_EQ(check(1.01 * moved, {0, 0}), (std::vector<int>{0, 0}));
  EXPECT_EQ(check(0.99 * moved, {7, 7}),
            (std::vector<int>{7, 7}));  // the eigensolver's own word stands
}

TEST_F(KernelTest, ritz_check_sees_energy_that_the_space_has_missed) {
  const int n = 40, l = 8, k = 3;
  const std::vector<double> nothing(n * k);
  std::vector<double> g(n * n), values(l);
  values[l - 1] = g[0] = 1e9;  // the one pair that was found
  g[n * n - 1] = 4;            // and one that was not
  std::vector<double> v = nothing, gv = nothing;
  v[(k - 1) * n] = 1;
  gv[(k - 1) * n] = 1e9;
  const OnDevice<double> g_device(g), v_device(v), gv_device(gv), values_device(values);
  const OnDevice<int> info({0});
  on_stream([&](cudaStream_t stream) {
    ritz_check({n, l, k, g_device.get(), v_device.get(), gv_device.get(), values_device.get()}, 100,
               0.1, 1, info.get(), stream);
  });
  EXPECT_EQ(info.fetch(), (std::vector<int>{1}));
}

}  // namespace
}  // namespace eckart::cuda
