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
#include <string>
#include <utility>
#include <vector>

#include "compute/spectrum.hpp"
#include "core/quality.hpp"
#include "hash/fnv1a.hpp"
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

/// FNV-1a of the samples.
std::uint64_t hash_of(const Image& image) {
  return hash::fnv1a({reinterpret_cast<const char*>(image.data()), image.bytes()});
}

/// Documentation, benchmarks and recorded results refer to these images.
TEST(SyntheticImage, has_the_same_bytes_for_ever) {
  struct Case {
    SynthKind kind;
    std::uint64_t gray, color, noisy;
  };
  for (const Case& expected : {
           Case{SynthKind::phantom, 0x67468A351A42AAB3, 0x769A65A5AD16FDF2, 0xA86A104A7A68D4D3},
           Case{SynthKind::texture, 0xCEF0B37FBB86BDE2, 0x2F93F8B2C6BB298, 0x30B6B7D67CE5895E},
           Case{SynthKind::low_rank, 0x8600E2EA728CA3AF, 0x96E0FCD30BCCDD26, 0x42AEBA38E3BA35A},
           Case{SynthKind::noise, 0xE5D208C54A0A2115, 0xE62E77E344F20BEA, 0xFC142BC1AAA247A6},
           Case{SynthKind::constant, 0xFACB2F159E551A99, 0xE2304E923D5353C5, 0xFB622516865381E6},
           Case{SynthKind::gradient, 0xC9CD8D9FC262B43F, 0xE139158E6F84FB1C, 0xE0C51EE287E0C1C6},
       }) {
    SynthSpec spec{.kind = expected.kind, .rows = 90, .cols = 130, .rank = 7, .seed = 5};
    EXPECT_EQ(hash_of(synthesize(spec)), expected.gray) << to_string(spec.kind);
    spec.channels = 3;
    spec.depth = Depth::u16;
    EXPECT_EQ(hash_of(synthesize(spec)), expected.color) << to_string(spec.kind);
    spec.noise_sigma = 300;
    EXPECT_EQ(hash_of(synthesize(spec)), expected.noisy) << to_string(spec.kind);
  }
}

TEST(Random, has_the_same_numbers_for_ever) {
  Random random(3, 4);
  EXPECT_EQ(random.bits(), 0xEEAE1954DDF80911u);
  EXPECT_EQ(random.uniform(), 0.09178408475876032);
  EXPECT_EQ(random.uniform(-2, 5), -1.4493673610399864);
  EXPECT_EQ(random.uniform_int(1000), 383);
  EXPECT_NEAR(random.normal(), -0.07491803365818069, 1e-12);
  EXPECT_NEAR(random.normal(), -0.2031615884468655, 1e-12);
}

TEST(SynthKind, has_the_name_of_the_command_line) {
  std::vector<std::string> names;
  for (const SynthKind kind : kSynthKinds) names.emplace_back(to_string(kind));
  EXPECT_THAT(names, testing::ElementsAre("phantom", "texture", "low-rank", "noise", "constant",
                                          "gradient"));
}

TEST(SyntheticImage, says_what_is_wrong_with_a_spec) {
  const auto error = [](const SynthSpec& spec) {
    try {
      synthesize(spec);
    } catch (const std::invalid_argument& invalid) {
      return std::string(invalid.what());
    }
    return std::string("no error");
  };
  const std::string begin = "invalid image specification: ";
  EXPECT_EQ(error({.cols = 0}), begin + "rows and cols must be positive");
  EXPECT_EQ(error({.rows = -1}), begin + "rows and cols must be positive");
  EXPECT_EQ(error({.channels = 4}), begin + "channels must be 1 or 3");
  EXPECT_EQ(error({.noise_sigma = std::numeric_limits<double>::infinity()}),
            begin + "noise must be 0 or more");
  EXPECT_EQ(error({.kind = SynthKind::low_rank, .rows = 9, .cols = 8, .rank = 9}),
            begin + "rank 9 is not in 1..8");
  EXPECT_EQ(error({.kind = SynthKind::low_rank, .rows = 9, .cols = 8, .rank = 8}), "no error");
  EXPECT_EQ(error({.kind = SynthKind::phantom, .rows = 9, .cols = 8, .rank = 9}), "no error");
}

TEST(SyntheticImage, has_default_noise_of_an_eighth_of_the_peak) {
  const auto all = levels(synthesize({.kind = SynthKind::noise, .seed = 2}));
  double squares = 0;
  for (const int level : all) squares += (level - 127.5) * (level - 127.5);
  EXPECT_NEAR(std::sqrt(squares / double(all.size())), 255.0 / 8, 0.5);
}

}  // namespace
}  // namespace eckart::synth
