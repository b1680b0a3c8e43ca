#include "synth/synth.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>
#include <vector>

#include "compute/spectrum.hpp"
#include "core/quality.hpp"
#include "synth/random.hpp"

namespace eckart::synth {
namespace {

bool same_bytes(const Image& a, const Image& b) {
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

/// The samples of channel `c`, row-major.
std::vector<int> levels(const Image& image, int c = 0) {
  std::vector<int> all;
  const auto& [rows, cols, channels, depth] = image.shape();
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      all.push_back(depth == Depth::u8 ? int(image.plane<std::uint8_t>(c)(row, col))
                                       : int(image.plane<std::uint16_t>(c)(row, col)));
    }
  }
  return all;
}

bool is_prime(std::int64_t n) {
  for (std::int64_t d = 2; d * d <= n; ++d) {
    if (n % d == 0) return false;
  }
  return true;
}

std::int64_t modular_inverse(std::int64_t a, std::int64_t p) {
  std::int64_t result = 1;
  for (std::int64_t e = p - 2; e > 0; e /= 2, a = a * a % p) {
    if (e % 2 == 1) result = result * a % p;
  }
  return result;
}

int rank_modulo(std::int64_t p, const std::vector<int>& matrix, int cols) {
  std::vector<std::vector<std::int64_t>> rows;
  for (auto row = matrix.begin(); row != matrix.end(); row += cols)
    rows.emplace_back(row, row + cols);
  std::size_t rank = 0;
  for (std::size_t col = 0; col < std::size_t(cols) && rank < rows.size(); ++col) {
    const auto pivot = std::find_if(rows.begin() + std::ptrdiff_t(rank), rows.end(),
                                    [&](const auto& row) { return row[col] != 0; });
    if (pivot == rows.end()) continue;
    std::swap(*pivot, rows[rank]);
    const std::int64_t over_pivot = modular_inverse(rows[rank][col], p);
    for (std::size_t i = rank + 1; i < rows.size(); ++i) {
      const std::int64_t factor = (p - rows[i][col]) * over_pivot % p;
      if (factor == p) continue;
      for (std::size_t j = col; j < std::size_t(cols); ++j) {
        rows[i][j] = (rows[i][j] + factor * rows[rank][j]) % p;
      }
    }
    ++rank;
  }
  return int(rank);
}

/// The exact rank over the rationals. A minor of size r + 1 is zero if it is divisible by primes
/// whose product exceeds the Hadamard bound of such a minor.
int exact_rank(const std::vector<int>& matrix, int cols, int max_level) {
  int rank = 0;
  double log2_product = 0, log2_bound = 1;
  for (std::int64_t p = 2147483647; log2_product <= log2_bound; p -= 2) {
    if (!is_prime(p)) continue;
    rank = std::max(rank, rank_modulo(p, matrix, cols));
    log2_product += std::log2(double(p));
    log2_bound = (rank + 1) * std::log2(max_level * std::sqrt(rank + 1.0));
  }
  return rank;
}

/// The squared singular values in descending order, by one-sided Jacobi.
std::vector<double> squared_singular_values(const std::vector<int>& matrix, int cols) {
  std::vector<std::vector<double>> rows;
  for (auto row = matrix.begin(); row != matrix.end(); row += cols)
    rows.emplace_back(row, row + cols);
  const auto dot = [](const auto& a, const auto& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
  };
  for (int sweep = 0; sweep < 8; ++sweep) {
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t j = i + 1; j < rows.size(); ++j) {
        const double ij = dot(rows[i], rows[j]), ii = dot(rows[i], rows[i]),
                     jj = dot(rows[j], rows[j]);
        if (std::abs(ij) <= 1e-10 * std::sqrt(ii * jj)) continue;
        const double zeta = (jj - ii) / (2 * ij);
        const double t = std::copysign(1.0, zeta) / (std::abs(zeta) + std::sqrt(1 + zeta * zeta));
        const double cosine = 1 / std::sqrt(1 + t * t), sine = cosine * t;
        for (std::size_t k = 0; k < rows[i].size(); ++k) {
          const double a = rows[i][k], b = rows[j][k];
          rows[i][k] = cosine * a - sine * b;
          rows[j][k] = sine * a + cosine * b;
        }
      }
    }
  }
  std::vector<double> squares(rows.size());
  std::transform(rows.begin(), rows.end(), squares.begin(),
                 [&](const auto& row) { return dot(row, row); });
  std::sort(squares.begin(), squares.end(), std::greater<>());
  return squares;
}

TEST(Random, has_the_moments_of_the_normal_distribution) {
  Random random(1);
  constexpr int kCount = 1000000;
  double sum[5] = {};
  int beyond_two = 0;
  for (int i = 0; i < kCount; ++i) {
    const double x = random.normal();
    for (int power = 1; power <= 4; ++power) sum[power] += std::pow(x, power);
    beyond_two += std::abs(x) > 2;
  }
  EXPECT_NEAR(sum[1] / kCount, 0, 0.005);
  EXPECT_NEAR(sum[2] / kCount, 1, 0.007);
  EXPECT_NEAR(sum[3] / kCount, 0, 0.02);
  EXPECT_NEAR(sum[4] / kCount, 3, 0.05);
  EXPECT_NEAR(double(beyond_two) / kCount, 0.0455, 0.001);
}

TEST(Random, is_splitmix64) {
  // This is the first number of the reference implementation for state 0. Seed 0 with stream 0 has
  // state 0.
  EXPECT_EQ(Random(0).bits(), 0xE220A8397B1DCDAFu);
  EXPECT_NE(Random(0, 1).bits(), Random(0, 0).bits());
}

class SynthKindTest : public testing::TestWithParam<SynthKind> {};
INSTANTIATE_TEST_SUITE_P(, SynthKindTest, testing::ValuesIn(kSynthKinds), [](const auto& test) {
  return test.param == SynthKind::low_rank ? "low_rank" : std::string(to_string(test.param));
});

TEST_P(SynthKindTest, is_determined_by_the_seed) {
  for (const int channels : {1, 3}) {
    const SynthSpec spec{.kind = GetParam(), .channels = channels, .noise_sigma = 0, .seed = 7};
    SynthSpec other = spec;
    other.seed = 8;
    EXPECT_TRUE(same_bytes(synthesize(spec), synthesize(spec)));
    EXPECT_FALSE(same_bytes(synthesize(spec), synthesize(other)));
  }
}

TEST_P(SynthKindTest, supports_every_shape_and_depth) {
  for (const auto& [rows, cols] :
       {std::pair{1, 1}, {1, 37}, {41, 1}, {33, 57}, {2, 300}, {301, 3}}) {
    for (const int channels : {1, 3}) {
      for (const Depth depth : {Depth::u8, Depth::u16}) {
        const Image image = synthesize({GetParam(), rows, cols, channels, depth, 1, 2.5, 3});
        EXPECT_EQ(image.shape(), (ImageShape{rows, cols, channels, depth}));
      }
    }
  }
}

TEST(SyntheticImage, shows_the_same_scene_at_8_and_16_bits) {
  for (const SynthKind kind : {SynthKind::phantom, SynthKind::texture, SynthKind::gradient}) {
    SCOPED_TRACE(to_string(kind));
    SynthSpec spec{.kind = kind, .rows = 40, .cols = 50, .seed = 4};
    const std::vector<int> coarse = levels(synthesize(spec));
    spec.depth = Depth::u16;
    const std::vector<int> fine = levels(synthesize(spec));
    for (std::size_t i = 0; i < fine.size(); ++i) ASSERT_NEAR(fine[i] / 257.0, coarse[i], 0.51);
  }
}

TEST(SyntheticImage, adds_noise_of_the_requested_sigma) {
  for (const SynthKind kind : kSynthKinds) {
    if (kind == SynthKind::noise) continue;  // tested by centers_noise_at_mid_gray
    SCOPED_TRACE(to_string(kind));
    // With 16 bits, rounding is negligible, and values far from the limits are not clamped.
    SynthSpec spec{.kind = kind, .depth = Depth::u16, .rank = 5, .seed = 11};
    const std::vector<int> clean = levels(synthesize(spec));
    spec.noise_sigma = 400;
    const std::vector<int> noisy = levels(synthesize(spec));
    double sum = 0;
    int counted = 0;
    for (std::size_t i = 0; i < clean.size(); ++i) {
      if (clean[i] < 2400 || clean[i] > 65535 - 2400) continue;
      sum += std::pow(noisy[i] - clean[i], 2);
      ++counted;
    }
    ASSERT_GT(counted, 10000);
    EXPECT_NEAR(std::sqrt(sum / counted), 400, 10);
  }
}

TEST(SyntheticImage, centers_noise_at_mid_gray) {
  for (const double sigma : {5.0, 20.0}) {
    const auto all =
        levels(synthesize({.kind = SynthKind::noise, .noise_sigma = sigma, .seed = 2}));
    const double mean = std::accumulate(all.begin(), all.end(), 0.0) / double(all.size());
    double squares = 0;
    for (const int level : all) squares += (level - mean) * (level - mean);
    EXPECT_NEAR(mean, 127.5, 0.5);
    EXPECT_NEAR(std::sqrt(squares / double(all.size()) - 1.0 / 12), sigma, 0.03 * sigma);
  }
}

TEST(SyntheticImage, has_exact_rank_if_low_rank) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    for (const auto& [rows, cols, rank] : {std::tuple{64, 48, 1},
                                           {64, 48, 2},
                                           {48, 64, 20},
                                           {50, 50, 49},
                                           {40, 40, 40},
                                           {1, 9, 1}}) {
      const Image image = synthesize({SynthKind::low_rank, rows, cols, 3, depth, rank, 0, 5});
      for (int c = 0; c < 3; ++c) {
        EXPECT_EQ(exact_rank(levels(image, c), cols, peak(depth)), rank) << rows << 'x' << cols;
      }
    }
  }
}

TEST(SyntheticImage, has_exact_rank_if_low_rank_above_the_peak) {
  // Sums of 270 products would exceed 255. The rank modulo a prime is a lower bound of the rank,
  // and full rank is the upper bound.
  const Image image = synthesize({SynthKind::low_rank, 280, 270, 1, Depth::u8, 270, 0, 6});
  EXPECT_EQ(rank_modulo(2147483647, levels(image), 270), 270);
}

TEST(SyntheticImage, has_a_slowly_decaying_spectrum_if_texture) {
  for (const std::uint64_t seed : {1u, 2u}) {
    const auto all = levels(synthesize({.kind = SynthKind::texture, .seed = seed}));
    const std::vector<double> spectrum = squared_singular_values(all, 256);
    const double at20 = psnr_db(compute::optimal_error(spectrum, 20), all.size(), 255);
    const double at50 = psnr_db(compute::optimal_error(spectrum, 50), all.size(), 255);
    EXPECT_GT(at20, 25);
    EXPECT_LT(at20, 32);
    EXPECT_LT(at50 - at20, 8);
    EXPECT_GT(std::sqrt(spectrum[200] / spectrum[10]), 0.01);
  }
}

TEST(SyntheticImage, has_the_modified_contrast_if_phantom) {
  std::vector<int> all = levels(synthesize({.kind = SynthKind::phantom, .seed = 9}));
  const auto share = [&](int level) {
    return double(std::count(all.begin(), all.end(), level)) / double(all.size());
  };
  EXPECT_GT(share(0), 0.4);     // the background
  EXPECT_GT(share(255), 0.02);  // the skull
  EXPECT_GT(share(51), 0.2);    // the brain: 0.2 of peak
}

TEST(SyntheticImage, spans_black_to_peak_if_gradient) {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u}) {
    EXPECT_THAT(levels(synthesize({.kind = SynthKind::gradient, .seed = seed})),
                testing::AllOf(testing::Contains(0), testing::Contains(255)));
  }
}

TEST(SyntheticImage, rejects_invalid_specs) {
  EXPECT_THROW(synthesize({.rows = 0}), std::invalid_argument);
  EXPECT_THROW(synthesize({.channels = 2}), std::invalid_argument);
  EXPECT_THROW(synthesize({.noise_sigma = -1}), std::invalid_argument);
  EXPECT_THROW(synthesize({.noise_sigma = std::numeric_limits<double>::quiet_NaN()}),
               std::invalid_argument);
  EXPECT_THROW(synthesize({.kind = SynthKind::low_rank, .rank = 0}), std::invalid_argument);
  EXPECT_THROW(synthesize({.kind = SynthKind::low_rank, .rows = 8, .rank = 9}),
               std::invalid_argument);
}

}  // namespace
}  // namespace eckart::synth
