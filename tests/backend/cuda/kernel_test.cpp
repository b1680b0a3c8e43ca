// Tests of the kernels that read and write pixels, against plain C++, for a table of shapes.
#include <cuda_fp16.h>

#include <numeric>

#include "compute/cuda/kernels/normalize_triplets.hpp"
#include "compute/cuda/kernels/reconstruct.hpp"
#include "compute/cuda/kernels/reconstruct_float16.hpp"
#include "compute/cuda/kernels/unpack.hpp"
#include "compute/cuda/kernels/unpack_float16.hpp"
#include "compute/cuda/solvers/float64_reconstruction.hpp"
#include "tests/backend/cuda/kernel_fixture.hpp"

namespace eckart::compute::cuda {
namespace {

const std::vector<Shape> kShapes{{64, 64, 1, 1}, {96, 33, 1, 1}, {33, 96, 1, 1}, {1, 70, 1, 1},
                                 {70, 1, 3, 1},  {1, 1, 1, 1},   {65, 64, 3, 1}, {17, 80, 3, 2},
                                 {80, 17, 1, 2}, {72, 40, 1, 2}, {40, 72, 1, 2}, {128, 96, 1, 1}};
const std::vector<Shape> kTallShapes{{128, 96, 3, 1}, {70, 33, 1, 1}, {72, 40, 1, 2}};
const std::vector<Shape> kOddShapes{{128, 95, 1, 1}, {70, 64, 3, 1}, {72, 40, 1, 2}};
const std::vector<Shape> kWideOddShapes{{95, 128, 1, 1}, {64, 70, 3, 1}, {40, 72, 1, 2}};
const std::vector<Shape> kNarrowShapes{{70, 3, 1, 1}, {5, 2, 3, 1}, {1, 1, 1, 2}};

TEST_F(KernelTest, unpacks_with_padding_and_transposes_wide_planes) {
  pack(kShapes);
  const DeviceArray<std::byte> pixels(pixels_);
  const DeviceArray<PlaneLayout> planes(planes_);
  const std::size_t matrix = std::size_t(m_) * std::size_t(n_);
  const DeviceArray<double> a_t(
      std::vector<double>(planes_.size() * matrix, -1.0));  // must be overwritten
  on_stream([&](cudaStream_t stream) {
    unpack(pixels.get(), planes.get(), int(planes_.size()), m_, n_, a_t.get(), stream);
  });
  const std::vector<double> found = a_t.copy_to_host();
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const PlaneLayout& plane = planes_[p];
    for (int i = 0; i < m_; ++i) {
      for (int j = 0; j < n_; ++j) {
        const double expected = i < plane.m() && j < plane.n() ? sample(pixels_, plane, i, j) : 0;
        ASSERT_EQ(found[p * matrix + std::size_t(i * n_ + j)], expected)
            << "plane " << p << ' ' << i << ',' << j;
      }
    }
  }
}

/// Reconstruction in float64 from random factors. Also planes with fewer columns than the rank have
/// all k columns.
class Float64ReconstructionTest : public KernelTest {
 protected:
  /// `reconstruct` gets a stream, the batch, the factors, the leading column of V, and memory.
  template <class Reconstruct>
  void expect_right(const std::vector<Shape>& shapes, int k, const Reconstruct& reconstruct);
};

template <class Reconstruct>
void Float64ReconstructionTest::expect_right(const std::vector<Shape>& shapes, int k,
                                             const Reconstruct& reconstruct) {
  pack(shapes);
  const bool has_wide_planes = std::ranges::any_of(
      planes_, [](const PlaneLayout& plane) { return plane.rows < plane.cols; });
  const int count = int(planes_.size());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> p_host(std::size_t(count) * std::size_t(m_ * k)),
      v_host(std::size_t(count) * std::size_t(n_ * k));
  for (double& value : p_host) value = 150 * uniform(random_) + 60;
  for (double& value : v_host) value = uniform(random_);
  for (const bool ascending : {false, true}) {
    const DeviceArray<std::byte> pixels(pixels_),
        out(std::vector<std::byte>(pixels_.size(), std::byte{0xA5}));
    const DeviceArray<PlaneLayout> planes(planes_);
    const DeviceArray<double> p(p_host), v(v_host),
        product(std::vector<double>(std::size_t(count) * std::size_t(m_ * n_), -1.0));
    const int tiles = reconstruct_tile_count(m_, n_);
    const DeviceArray<TileError> errors(
        std::vector<TileError>(std::size_t(count * tiles), {99, 99, 99.0}));
    const Factors factors{p.get() + (ascending ? (k - 1) * m_ : 0),
                          v.get() + (ascending ? (k - 1) * n_ : 0),
                          m_ * k,
                          n_ * k,
                          ascending ? -m_ : m_,
                          ascending ? -n_ : n_};
    on_stream([&](cudaStream_t stream) {
      reconstruct(stream,
                  ReconstructedBatch{pixels.get(), planes.get(), has_wide_planes, count, m_, n_,
                                     out.get(), errors.get()},
                  factors, v.get() + (ascending ? (k - 1) * n_ : 0), product.get());
    });
    const std::vector<std::byte> found = out.copy_to_host();
    const std::vector<TileError> found_errors = errors.copy_to_host();
    for (int q = 0; q < count; ++q) {
      SCOPED_TRACE(q);
      const auto value = [&](int i, int j) {
        double sum = 0;
        for (int t = 0; t < std::min(k, planes_[std::size_t(q)].n()); ++t) {
          const int column = ascending ? k - 1 - t : t;
          sum += p_host[std::size_t((q * k + column) * m_ + i)] *
                 v_host[std::size_t((q * k + column) * n_ + j)];
        }
        return sum;
      };
      expect_reconstruction(
          planes_[std::size_t(q)], value, 1e-9, found,
          std::span(found_errors).subspan(std::size_t(q * tiles)).first(std::size_t(tiles)));
    }
  }
}

TEST_F(Float64ReconstructionTest, clamps_and_rounds_pixels_and_sums_errors) {
  const int k = kMaxFusedRank - 5;  // several parts, and the last one is not full
  expect_right(kShapes, k,
               [&](cudaStream_t stream, const ReconstructedBatch& batch, const Factors& factors,
                   double* /*v*/, double* /*product*/) {
                 reconstruct(batch.pixels, batch.planes, batch.count, batch.m, batch.n, k, nullptr,
                             factors, batch.out, batch.errors, stream);
               });
}

class LargeRankReconstructionTest : public Float64ReconstructionTest {
 protected:
  void expect_right_by_cublas(const std::vector<Shape>& shapes) {
    const BlasHandle blas = ECKART_CUDA_HANDLE(BlasHandle, cublasCreate_v2);
    const int k = kMaxFusedRank + 8;
    expect_right(
        shapes, k,
        [&](cudaStream_t stream, const ReconstructedBatch& batch, const Factors& factors, double* v,
            double* product) {
          ECKART_CUDA_CHECK(cublasSetStream(blas.get(), stream));
          reconstruct_at_rank({stream, blas.get(), nullptr}, batch, k, factors, v, product);
        });
  }
};

TEST_F(LargeRankReconstructionTest, is_right_if_planes_are_wide) {
  expect_right_by_cublas(kShapes);
}

TEST_F(LargeRankReconstructionTest, is_right_if_no_plane_is_wide) {
  expect_right_by_cublas(kTallShapes);
}

TEST_F(LargeRankReconstructionTest, is_right_if_rows_of_the_product_are_not_aligned) {
  for (const std::vector<Shape>& shapes : {kOddShapes, kWideOddShapes, kNarrowShapes}) {
    clear();
    expect_right_by_cublas(shapes);
  }
}

TEST_F(KernelTest, unpacks_float16_exactly_into_hi_and_lo) {
  pack(kShapes);
  const int m = (m_ + 15) / 16 * 16, n = (n_ + 15) / 16 * 16;
  const DeviceArray<std::byte> pixels(pixels_);
  const DeviceArray<PlaneLayout> planes(planes_);
  const std::size_t matrix = std::size_t(m) * std::size_t(n);
  const std::vector<__half> poisoned(planes_.size() * matrix, __float2half_rn(-1.0F));
  const DeviceArray<__half> hi(poisoned), lo(poisoned);
  on_stream([&](cudaStream_t stream) {
    unpack_float16(pixels.get(), planes.get(), int(planes_.size()), m, n, hi.get(), lo.get(),
                   stream);
  });
  const std::vector<__half> found_hi = hi.copy_to_host(), found_lo = lo.copy_to_host();
  for (std::size_t p = 0; p < planes_.size(); ++p) {
    const PlaneLayout& plane = planes_[p];
    for (int i = 0; i < m; ++i) {
      for (int j = 0; j < n; ++j) {
        const std::size_t at = p * matrix + std::size_t(i * n + j);
        const double expected = i < plane.m() && j < plane.n() ? float16_scale(plane.sample_bytes) *
                                                                     sample(pixels_, plane, i, j)
                                                               : 0;
        ASSERT_EQ(double(__half2float(found_hi[at])) + double(__half2float(found_lo[at])), expected)
            << "plane " << p << ' ' << i << ',' << j;
        if (plane.sample_bytes == 1) {
          ASSERT_EQ(__half2float(found_lo[at]), 0);
        }
      }
    }
  }
}

/// Expects the triplets of scale(plane) P V' for each plane. p(plane, t, i) and v(plane, t, j) are
/// elements. If `is_orthogonalized`, Gram-Schmidt follows for the columns of V.
template <class Left, class Right, class Scale>
void expect_triplets(const std::vector<PlaneLayout>& planes, const DeviceArray<std::byte>& found,
                     const TripletLayout& layout, Left&& p, Right&& v, Scale&& scale,
                     bool is_orthogonalized) {
  const std::vector<std::byte> all = found.copy_to_host();
  for (std::size_t q = 0; q < planes.size(); ++q) {
    const PlaneLayout& plane = planes[q];
    const int rank = std::min(layout.rank, plane.n());
    const bool is_wide = plane.rows < plane.cols;
    const eckart::Factors factors =
        read_triplets(all.data() + q * layout.plane_bytes(), layout, plane, rank, 1);
    std::vector<std::vector<double>> unit_v;
    for (int t = 0; t < rank; ++t) {
      double p_square = 0, v_square = 0;
      for (int i = 0; i < plane.m(); ++i) p_square += std::pow(p(int(q), t, i), 2);
      for (int j = 0; j < plane.n(); ++j) v_square += std::pow(v(int(q), t, j), 2);
      const double s = scale(plane) * std::sqrt(p_square * v_square);
      ASSERT_NEAR(factors.s[std::size_t(t)], s, 1e-12 * s) << "plane " << q << " triplet " << t;
      const auto left = [&](int i) {
        return is_wide ? factors.vt[std::size_t(t * plane.m() + i)]
                       : factors.u[std::size_t(i * rank + t)];
      };
      const auto right = [&](int j) {
        return is_wide ? factors.u[std::size_t(j * rank + t)]
                       : factors.vt[std::size_t(t * plane.n() + j)];
      };
      for (int i = 0; i < plane.m(); ++i) {
        const double value = p_square > 0 ? p(int(q), t, i) / std::sqrt(p_square) : 0;
        ASSERT_NEAR(double(left(i)), value, 1e-7) << "plane " << q << " triplet " << t;
      }
      std::vector<double>& column = unit_v.emplace_back();
      for (int j = 0; j < plane.n(); ++j) column.push_back(v(int(q), t, j));
      for (int i = 0; is_orthogonalized && i < t; ++i) {
        const std::vector<double>& before = unit_v[std::size_t(i)];
        const double product =
            std::inner_product(column.begin(), column.end(), before.begin(), 0.0);
        for (std::size_t j = 0; j < column.size(); ++j) column[j] -= product * before[j];
      }
      const double norm =
          std::sqrt(std::inner_product(column.begin(), column.end(), column.begin(), 0.0));
      for (double& value : column) value /= norm;
      for (int j = 0; j < plane.n(); ++j)
        ASSERT_NEAR(double(right(j)), column[std::size_t(j)], is_orthogonalized ? 1e-6 : 1e-7)
            << "plane " << q << " triplet " << t;
    }
  }
}

TEST_F(KernelTest, normalizes_triplets_in_float64) {
  pack(kShapes);
  for (PlaneLayout& plane : planes_) plane.scale = plane.rows == 96 ? 0.25 : 1;
  const int k = 19, count = int(planes_.size());
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::vector<double> p_host(std::size_t(count * m_ * k)), v_host(std::size_t(count * n_ * k));
  for (double& value : p_host) value = 1e5 * uniform(random_);
  for (double& value : v_host) value = 1e-3 * uniform(random_);
  std::fill_n(p_host.begin(), m_, 0.0);  // a column of zeros
  const DeviceArray<PlaneLayout> planes(planes_);
  const DeviceArray<double> p(p_host), v(v_host);
  const TripletLayout layout{m_, n_, k};
  for (const bool is_ascending : {false, true}) {
    const DeviceArray<std::byte> found(
        std::vector<std::byte>(std::size_t(count) * layout.plane_bytes(), std::byte{0xA5}));
    on_stream([&](cudaStream_t stream) {
      normalize_triplets(planes.get(), count,
                         make_factors(p.get(), m_, v.get(), n_, k, k, is_ascending),
                         {found.get(), layout}, stream);
    });
    const auto element = [&](const std::vector<double>& of, int rows) {
      return [&, rows](int plane, int t, int row) {
        return of[std::size_t((plane * k + (is_ascending ? k - 1 - t : t)) * rows + row)];
      };
    };
    expect_triplets(
        planes_, found, layout, element(p_host, m_), element(v_host, n_),
        [](const PlaneLayout& plane) { return 1 / plane.scale; }, false);
  }
}

TEST_F(KernelTest, normalizes_triplets_in_float16) {
  pack(kShapes);
  const int m = (m_ + 15) / 16 * 16, n = (n_ + 15) / 16 * 16, columns = 32, k = 19;
  const int count = int(planes_.size());
  std::uniform_real_distribution<float> uniform(-1, 1);
  const auto make = [&](int rows) {
    std::vector<__half> values(std::size_t(2 * rows * columns * count));
    for (__half& value : values) value = __float2half_rn(uniform(random_));
    return values;
  };
  const std::vector<__half> u_host = make(m);
  std::vector<__half> v_host = make(n);
  for (int at = 0; at < int(v_host.size()); ++at) {  // nearly orthogonal columns
    const int row = at % n, column = at / n % columns, part = at / (n * columns) % 2;
    const float noise = 0.03F * __half2float(v_host[std::size_t(at)]);
    v_host[std::size_t(at)] = __float2half_rn(noise + (part == 0 && row == column ? 4.0F : 0.0F));
  }
  const DeviceArray<PlaneLayout> planes(planes_);
  const DeviceArray<__half> u(u_host), v(v_host);
  const TripletLayout layout{m_, n_, k};
  const DeviceArray<std::byte> found(
      std::vector<std::byte>(std::size_t(count) * layout.plane_bytes(), std::byte{0xA5}));
  const float scale = 0.25F;
  on_stream([&](cudaStream_t stream) {
    normalize_triplets(planes.get(), count, m, n, {u.get(), v.get(), columns, scale},
                       {found.get(), layout}, stream);
  });
  const auto element = [&](const std::vector<__half>& of, int rows) {
    return [&of, rows](int plane, int t, int row) {  // hi + lo
      const std::size_t block = std::size_t(rows * columns),
                        at = 2 * block * std::size_t(plane) + std::size_t(t * rows + row);
      return double(__half2float(of[at])) + double(__half2float(of[at + block]));
    };
  };
  expect_triplets(
      planes_, found, layout, element(u_host, m), element(v_host, n),
      [&](const PlaneLayout& plane) { return double(scale) / float16_scale(plane.sample_bytes); },
      true);
}

TEST_F(KernelTest, reconstructs_all_ranks_in_one_pass_in_float16) {
  pack(kShapes);
  const int m = (m_ + 15) / 16 * 16, n = (n_ + 15) / 16 * 16, columns = 48;
  const int count = int(planes_.size());
  const float scale = 0.25F;
  const std::vector<int> ranks{19, 1, 48, 16, 32, 20,
                               2,  3, 4,  5,  33};  // more than one launch computes
  std::uniform_real_distribution<double> uniform(-1, 1);
  // hi and lo of each matrix; `values` are their sums
  const auto split = [&](int rows, double size, std::vector<double>& values) {
    const std::size_t block = std::size_t(rows * columns);
    std::vector<__half> float16_values(2 * block * std::size_t(count));
    values.resize(block * std::size_t(count));
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t at = i / block * 2 * block + i % block;
      float16_values[at] = __float2half_rn(float(size * uniform(random_)));
      float16_values[at + block] = __float2half_rn(float(size * 4e-4 * uniform(random_)));
      values[i] = double(__half2float(float16_values[at])) +
                  double(__half2float(float16_values[at + block]));
    }
    return float16_values;
  };
  std::vector<double> u_host, v_host;
  const DeviceArray<__half> u(split(m, 1, u_host)), v(split(n, 200, v_host));
  const DeviceArray<std::byte> pixels(pixels_),
      out(std::vector<std::byte>(pixels_.size() * ranks.size(), std::byte{0xA5}));
  const DeviceArray<PlaneLayout> planes(planes_);
  const int tiles = reconstruct_tile_count(m, n);
  const DeviceArray<TileError> errors(
      std::vector<TileError>(std::size_t(count * tiles) * ranks.size(), {99, 99, 99.0}));
  on_stream([&](cudaStream_t stream) {
    reconstruct_float16(pixels.get(), planes.get(), count, m, n, ranks, nullptr,
                        {u.get(), v.get(), columns, scale}, out.get(), pixels_.size(), errors.get(),
                        std::size_t(count * tiles), stream);
  });
  const std::vector<std::byte> all = out.copy_to_host();
  const std::vector<TileError> all_errors = errors.copy_to_host();
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    const std::vector<std::byte> found(all.begin() + std::ptrdiff_t(r * pixels_.size()),
                                       all.begin() + std::ptrdiff_t((r + 1) * pixels_.size()));
    for (int q = 0; q < count; ++q) {
      SCOPED_TRACE(::testing::Message() << "rank " << ranks[r] << ", plane " << q);
      const PlaneLayout& plane = planes_[std::size_t(q)];
      const double unscale = scale / float16_scale(plane.sample_bytes);
      const auto value = [&](int i, int j) {
        double sum = 0;
        for (int t = 0; t < ranks[r]; ++t) {
          sum += u_host[std::size_t((q * columns + t) * m + i)] *
                 v_host[std::size_t((q * columns + t) * n + j)];
        }
        return unscale * sum;
      };
      const std::size_t first = (r * std::size_t(count) + std::size_t(q)) * std::size_t(tiles);
      expect_reconstruction(plane, value, 1e-3 * unscale, found,
                            std::span(all_errors).subspan(first).first(std::size_t(tiles)));
    }
  }
}

}  // namespace
}  // namespace eckart::compute::cuda
