// Images that are difficult on purpose: a solver might compute a wrong result for them and certify
// it.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "synth/random.hpp"
#include "tests/backend/optimality.hpp"
#include "tests/support/sanitized.hpp"

namespace eckart::test {
namespace {

class AdversarialImageTest : public BackendTest {
 protected:
  void expect_all_optimal(const std::vector<Image>& images, const std::vector<int>& ranks) {
    for (const Image& image : images) {
      SCOPED_TRACE(::testing::Message() << "image " << &image - images.data());
      expect_optimal(image, reconstruct(image, ranks), ranks);
    }
  }
};
INSTANTIATE_TEST_SUITE_P(All, AdversarialImageTest, ::testing::ValuesIn(all_configs()),
                         config_name);

/// An 8-bit image with value_at(row, col).
template <class ValueAt>
Image draw(int rows, int cols, ValueAt value_at) {
  Image image({rows, cols, 1, Depth::u8});
  for (int row = 0; row < rows; ++row) {
    for (int col = 0; col < cols; ++col) {
      image.plane<std::uint8_t>(0)(row, col) = std::uint8_t(value_at(row, col));
    }
  }
  return image;
}

constexpr int kSide = 192;

template <class ValueAt>
Image square(ValueAt value_at) {
  return draw(kSide, kSide, value_at);
}

/// A pseudorandom number below 256.
unsigned hash_noise(int row, int col) {
  return unsigned(row * 7919 + col * 104729) * 2654435761U >> 24;
}

/// Ranks that need more columns than CUDA's float16 kernels support.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_at_large_ranks) {
  constexpr int kLargeSide = 320;
  const auto large = [](auto value_at) { return draw(kLargeSide, kLargeSide, value_at); };
  const std::vector<Image> images = [&] {
    std::vector<Image> all;
    all.push_back(large([](int row, int col) { return row == col ? 255 : 0; }));
    all.push_back(large([](int row, int col) { return hash_noise(row, col) < 3 ? 255 : 0; }));
    all.push_back(large([](int row, int col) { return 254 + (hash_noise(row, col) < 2); }));
    all.push_back(large([](int row, int col) { return row < 180 && row == col ? 200 : 50; }));
    all.push_back(large([](int row, int col) { return row > col ? 255 : 0; }));
    all.push_back(large([](int row, int col) { return row == 100 && col == 3; }));
    return all;
  }();
  expect_all_optimal(images, {2, 175});
}

/// These images defeat a start block that favors smooth images, a subspace too small for a group of
/// equal singular values, and a certificate that reads only what the subspace contains.
TEST_P(AdversarialImageTest, is_reconstructed_optimally) {
  const std::vector<Image> images = [] {
    std::vector<Image> all;
    all.push_back(square([](int row, int col) { return row == col ? 255 : 0; }));
    all.push_back(square([](int row, int col) { return (row * 5) % kSide == col ? 3 + row : 0; }));
    all.push_back(square([](int row, int col) { return (row + col) % 2 * 200; }));
    all.push_back(
        square([](int row, int col) { return 100 + (col % 2 * 2 - 1) * (row % 3) * 40; }));
    all.push_back(square([](int row, int col) { return row < 40 && row == col ? 200 : 50; }));
    all.push_back(square([](int row, int col) { return hash_noise(row, col); }));
    all.push_back(square([](int row, int col) { return hash_noise(row, col) < 3 ? 255 : 0; }));
    all.push_back(square([](int row, int col) { return 128 + (hash_noise(row, col) < 9); }));
    all.push_back(square([](int row, int col) { return col == 17 || col == 90 ? row : 0; }));
    all.push_back(square([](int row, int col) { return row / 8 % 2 == col / 8 % 2 ? 250 : 5; }));
    all.push_back(square([](int row, int col) { return row > col ? 255 : 0; }));
    all.push_back(square([](int row, int col) { return row == 100 && col == 3; }));
    all.push_back(square([](int row, int col) { return hash_noise(row, col) < 2; }));
    all.push_back(square([](int row, int col) { return 254 + (row == col); }));
    return all;
  }();
  expect_all_optimal(images, {1, 3, 20});
}

/// A 16-bit image with value_at(row, col).
template <class ValueAt>
Image draw_16_bits(int side, ValueAt value_at) {
  Image image({side, side, 1, Depth::u16});
  for (int row = 0; row < side; ++row) {
    for (int col = 0; col < side; ++col) {
      image.plane<std::uint16_t>(0)(row, col) = std::uint16_t(value_at(row, col));
    }
  }
  return image;
}

/// gram alone only guarantees that its certificate is valid.
void expect_solver_guarantee(const Image& image, const compute::Task& task,
                             const std::vector<int>& ranks) {
  if (BackendTest::GetParam().solver != SolverKind::gram) return expect_optimal(image, task, ranks);
  expect_valid_certificate(image, task, ranks);
}

/// A difference of 1 in 60,000 is rounding for A'A in float64.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_with_specks_of_one_level_in_16_bits) {
  for (const auto& [level, specks] : {std::pair{60000, 3}, std::pair{65535, 1}}) {
    Image image = draw_16_bits(256, [level = level](int, int) { return level; });
    const auto pixels = image.plane<std::uint16_t>(0);
    for (int i = 0; i < specks; ++i) pixels(40 * i + 7, 61 * i + 30) -= std::uint16_t(4 - specks);
    const std::vector<int> ranks{1, 2, 3, 4, 20};
    expect_solver_guarantee(image, reconstruct(image, ranks), ranks);
  }
}

/// The same at high rank, where `auto` begins with gram.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_at_nearly_full_rank_in_16_bits) {
  synth::Random random(1936);
  const Image image =
      draw_16_bits(128, [&](int, int) { return 65534 + int(random.uniform_int(2)); });
  for (const int rank : {96, 110}) {
    const compute::Task task = reconstruct(image, {rank});
    expect_solver_guarantee(image, task, {rank});
    EXPECT_EQ(task.results[0][0].is_recomputed, !GetParam().is_exact())
        << "must be recomputed by gesvd";
  }
}

/// Singular values over five orders of magnitude. The weak ones must not be lost beside the strong
/// ones.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_with_specks_on_a_flat_image) {
  Image image = make_image(synth::SynthKind::constant, 256, 256);
  for (int i = 0; i < 30; ++i)
    image.plane<std::uint8_t>(0)((i * 37) % 256, (i * 71) % 256) ^= std::uint8_t(1 + i % 3);
  const std::vector<int> ranks{5, 20};
  expect_optimal(image, reconstruct(image, ranks), ranks);
  EXPECT_EQ(samples(reconstruct(image, {40}).outputs[0], 0), samples(image, 0));
}

/// Random orthonormal columns, as many as rows.
std::vector<std::vector<double>> draw_basis(int rows, synth::Random& random) {
  std::vector<std::vector<double>> basis;
  for (int i = 0; i < rows; ++i) {
    std::vector<double> column(static_cast<std::size_t>(rows));
    for (double& value : column) value = random.normal();
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& other : basis) {
        const double along = std::inner_product(column.begin(), column.end(), other.begin(), 0.0);
        std::transform(column.begin(), column.end(), other.begin(), column.begin(),
                       [along](double value, double part) { return value - along * part; });
      }
    }
    const double length =
        std::sqrt(std::inner_product(column.begin(), column.end(), column.begin(), 0.0));
    for (double& value : column) value /= length;
    basis.push_back(std::move(column));
  }
  return basis;
}

/// A gray square whose singular values, except the first, are proportional to value_of(index) up to
/// rounding.
template <class ValueOf>
Image draw_spectrum(int side, Depth depth, synth::Random& random, ValueOf value_of) {
  const auto left = draw_basis(side, random), right = draw_basis(side, random);
  std::vector<double> values(std::size_t(side) * std::size_t(side));
  double largest = 0;
  for (int row = 0, at = 0; row < side; ++row) {
    for (int col = 0; col < side; ++col, ++at) {
      double sum = 0;
      for (std::size_t i = 0; i < left.size(); ++i)
        sum += value_of(int(i)) * left[i][std::size_t(row)] * right[i][std::size_t(col)];
      values[std::size_t(at)] = sum;
      largest = std::max(largest, std::abs(sum));
    }
  }
  const auto level_at = [&](int row, int col) {
    const double value = values[std::size_t(row) * std::size_t(side) + std::size_t(col)];
    return std::lround(peak(depth) * (0.5 + 0.49 * value / largest));
  };
  return depth == Depth::u8 ? draw(side, side, level_at) : draw_16_bits(side, level_at);
}

/// At least half of the singular values are kept, and those left out are almost as large. The
/// values inside the subspace then say little about those outside. The larger side needs more
/// columns than CUDA's float16 kernels support.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_with_nearly_equal_singular_values) {
  synth::Random random(1936);
  for (const int side : {128, 320}) {
    const std::vector<int> ranks = side == 128 ? std::vector{60, 64, 68} : std::vector{170, 180};
    const int images = kHasAddressSanitizer ? 4 : 12;  // all kinds
    for (int i = 0; i < (side == 128 ? images : 2); ++i) {
      SCOPED_TRACE(::testing::Message() << "image " << i << " of side " << side);
      const auto value_of = [&](int index) {
        if (i % 2 == 0) return index < 3 * side / 8 ? 1 : 0.96;
        return std::pow(1.0 + index, -0.1);
      };
      const Image image = draw_spectrum(side, i % 4 < 2 ? Depth::u8 : Depth::u16, random, value_of);
      const ReferenceSvd svd = reference_svd(image, 0);
      for (const int rank : ranks) {
        expect_optimal(image, reconstruct(image, {rank}), {rank}, {&svd, 1});
      }
    }
  }
}

/// Long columns: a float32 sum of squares loses weak entries, and the scales of weak columns exceed
/// float16.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_with_long_columns) {
  constexpr int kRows = 4096, kCols = 64;
  const std::vector<Image> images = [] {
    std::vector<Image> all;
    all.push_back(draw(kRows, kCols, [](int row, int col) { return row == 1234 && col == 5; }));
    all.push_back(draw(kRows, kCols, [](int row, int col) { return col == row % 600 ? 9 : 0; }));
    all.push_back(
        draw(kRows, kCols, [](int row, int col) { return 255 - (row % 997 == 7 * col); }));
    return all;
  }();
  expect_all_optimal(images, {1, 2, 8});
}

/// Easy images reduce CUDA's iterations. The images after them must still be optimal.
TEST_P(AdversarialImageTest, is_reconstructed_optimally_after_many_easy_images) {
  const auto backend = make();
  const auto lane = backend->make_lane(0);
  const auto expect_optimal_of = [&](const Image& image) {
    compute::Task task = make_task(image, {8});
    compute::Task* const batch[] = {&task};
    lane->start(0, compute::batch_key(task, 32), batch);
    lane->finish(0);
    expect_optimal(image, task, {8});
  };
  const Image easy = make_image(synth::SynthKind::low_rank, kSide, kSide);
  for (int i = 0; i < 8; ++i) expect_optimal_of(easy);
  expect_optimal_of(square([](int row, int col) { return hash_noise(row, col); }));
  for (int i = 0; i < 8; ++i) expect_optimal_of(easy);
  expect_optimal_of(square([](int row, int col) { return 200 ^ (hash_noise(row, col) < 1); }));
}

}  // namespace
}  // namespace eckart::test
