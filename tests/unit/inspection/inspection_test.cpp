#include "inspection/inspection.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <random>
#include <utility>

#include "compute/cpu/cpu_backend.hpp"
#include "core/quality.hpp"
#include "preparation/gray.hpp"
#include "synth/synth.hpp"

namespace eckart::inspection {
namespace {

using ::testing::Each;
using Kind = RankPolicy::Kind;

Image photograph(int rows, int cols, int channels, Depth depth = Depth::u8) {
  return synth::synthesize({.kind = synth::SynthKind::texture,
                            .rows = rows,
                            .cols = cols,
                            .channels = channels,
                            .depth = depth});
}

/// What a run computes.
compute::Task computed(const Image& image, const std::vector<RankPolicy>& policies) {
  compute::Task task;
  task.input = Image(image.shape());
  std::memcpy(task.input.data(), image.data(), image.bytes());
  task.peak = peak(image.shape().depth);
  for (const RankPolicy& policy : policies) {
    task.ranks.push_back(resolve(policy, image.shape()));
    task.outputs.emplace_back(image.shape());
    task.results.emplace_back(std::size_t(image.shape().channels));
  }
  const auto backend = compute::cpu::make_cpu_backend({});
  const auto lane = backend->make_lane(0);
  compute::Task* const tasks[] = {&task};
  lane->start(0, compute::batch_key(task, 32), tasks);
  lane->finish(0);
  EXPECT_EQ(task.error, "");
  return task;
}

TEST(Inspection, tells_what_a_run_comes_to) {
  const std::vector<RankPolicy> policies{
      3,  {Kind::percent, 50}, {Kind::energy, 0.99},     {Kind::psnr, 32},
      20, {Kind::bytes, 40},   {Kind::gavish_donoho, 0}, {Kind::marchenko_pastur, 0}};
  for (const int channels : {1, 3}) {
    for (const Depth depth : {Depth::u8, Depth::u16}) {
      const Image image = photograph(60, 90, channels, depth);
      const Peak peak_of{double(peak(depth)), PeakSource::dtype};
      const compute::Task task = computed(image, policies);
      std::size_t pictures = 0;
      const Inspection inspection = inspect(
          image, {.peak = peak_of, .ranks = policies, .targets = policies},
          [&](std::size_t index, const Reconstruction& result, const Image& pixels) {
            EXPECT_EQ(index, pictures++);
            double squared_error = 0, residual = 0;
            for (std::size_t c = 0; c < result.channel_ranks.size(); ++c) {
              const compute::PlaneResult& plane = task.results[index][c];
              EXPECT_EQ(result.channel_ranks[c], plane.rank);
              squared_error += plane.squared_error;
              residual += plane.residual;
            }
            const std::size_t samples = image.shape().samples();
            EXPECT_NEAR(result.psnr_before_rounding_db, psnr_db(residual, samples, peak_of.value),
                        kMaxLossDb);
            EXPECT_NEAR(result.psnr_db, psnr_db(squared_error, samples, peak_of.value), kMaxLossDb);
            EXPECT_NEAR(result.rmse, std::sqrt(squared_error / double(samples)),
                        0.002 * result.rmse);
            EXPECT_EQ(pixels.shape(), image.shape());
          });
      EXPECT_EQ(pictures, policies.size());
      for (std::size_t i = 0; i < policies.size(); ++i) {
        EXPECT_EQ(inspection.targets[i].channel_ranks, inspection.ranks[i].channel_ranks);
        EXPECT_EQ(inspection.targets[i].psnr_db, inspection.ranks[i].psnr_db);
      }
    }
  }
}

TEST(Inspection, gives_the_same_pixels_whatever_ranks_came_before) {
  const Image image = photograph(80, 50, 3);
  std::vector<std::vector<std::byte>> pictures;
  inspect(image, {.peak = {255}, .ranks = {7, 50, 1, 20, {Kind::percent, 14}}, .targets = {}},
          [&](std::size_t, const Reconstruction&, const Image& pixels) {
            pictures.emplace_back(pixels.data(), pixels.data() + pixels.bytes());
          });
  ASSERT_EQ(pictures.size(), 5U);
  EXPECT_EQ(pictures[0], pictures[4]);
  EXPECT_TRUE(std::equal(pictures[1].begin(), pictures[1].end(), image.data()));  // the full rank
}

TEST(Inspection, has_a_curve_that_agrees_with_the_singular_values) {
  const Image image = photograph(40, 70, 3);
  const Inspection inspection = inspect(image, {.peak = {255}, .ranks = {10}, .targets = {}});
  ASSERT_EQ(inspection.curve.size(), 40U);
  ASSERT_EQ(inspection.singular_values.size(), 3U);
  double squared_norm = 0;
  for (const std::vector<double>& values : inspection.singular_values)
    squared_norm += std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
  double kept = 0;
  for (std::size_t k = 0; k < inspection.curve.size(); ++k) {
    for (const std::vector<double>& values : inspection.singular_values)
      kept += values[k] * values[k];
    EXPECT_EQ(inspection.curve[k].rank, int(k) + 1);
    EXPECT_NEAR(inspection.curve[k].energy, kept / squared_norm, 1e-12);
    if (k + 1 < inspection.curve.size()) {
      EXPECT_NEAR(inspection.curve[k].psnr_db,
                  psnr_db(squared_norm - kept, image.shape().samples(), 255), 1e-5);
    }
  }
  EXPECT_EQ(inspection.curve.back().energy, 1);
  EXPECT_EQ(inspection.curve.back().psnr_db, std::numeric_limits<double>::infinity());
  EXPECT_EQ(inspection.curve[9].energy, inspection.ranks[0].energy);
  EXPECT_EQ(inspection.curve[9].factor_bytes, inspection.ranks[0].factor_bytes);
}

TEST(Inspection, is_exact_at_full_rank_and_for_a_constant_image) {
  const Image image = synth::synthesize(
      {.kind = synth::SynthKind::constant, .rows = 20, .cols = 30, .channels = 1});
  const Inspection inspection =
      inspect(image, {.peak = {255}, .ranks = {1, 20}, .targets = common_targets()});
  for (const Reconstruction& result : inspection.ranks) {
    EXPECT_EQ(result.psnr_db, std::numeric_limits<double>::infinity());
    EXPECT_EQ(result.ssim, 1);
    EXPECT_EQ(result.rmse, 0);
  }
  for (const Reconstruction& target : inspection.targets)
    EXPECT_THAT(target.channel_ranks, Each(target.policy.kind == Kind::bytes ? target.rank() : 1));
}

TEST(Inspection, decomposes_the_matrices_of_each_color_mode) {
  const Image image = photograph(40, 70, 3);
  const auto inspect_as = [&](ColorMode color) {
    return inspect(image, {.peak = {255}, .ranks = {10, 1000}, .targets = {}, .color = color});
  };
  const Inspection luma = inspect_as(ColorMode::luma), ycbcr = inspect_as(ColorMode::ycbcr),
                   joint = inspect_as(ColorMode::joint);
  const Inspection gray = inspect(preparation::to_gray(photograph(40, 70, 3)),
                                  {.peak = {255}, .ranks = {10}, .targets = {}});
  EXPECT_NEAR(luma.singular_values[0][0], gray.singular_values[0][0], 5) << "in levels";
  EXPECT_EQ(luma.break_even_rank, gray.break_even_rank);
  EXPECT_NEAR(luma.ranks[0].psnr_before_rounding_db, gray.ranks[0].psnr_before_rounding_db, 0.1);
  EXPECT_NEAR(luma.curve[9].psnr_db, luma.ranks[0].psnr_before_rounding_db, 1e-6);
  EXPECT_NEAR(ycbcr.singular_values[0][0], std::sqrt(3) * luma.singular_values[0][0], 2)
      << "in levels of the image, of three channels";
  EXPECT_EQ(joint.ranks[0].factor_bytes, 10 * triplet_bytes(40, 210));
  EXPECT_NEAR(joint.curve[9].psnr_db, joint.ranks[0].psnr_before_rounding_db, 1e-6);
  for (const Inspection* mode : {&luma, &ycbcr, &joint}) {
    EXPECT_LT(mode->ranks[0].psnr_db, 60);
    EXPECT_EQ(mode->ranks[1].psnr_db, std::numeric_limits<double>::infinity()) << "full rank";
    EXPECT_EQ(mode->curve.size(), 40U);
  }
}

/// The same samples as floats have matrices that are not rounded.
TEST(Inspection, loses_nothing_by_the_rounding_of_matrices) {
  const Image image = photograph(96, 128, 3);
  ImageShape shape = image.shape();
  shape.depth = Depth::f32;
  Image floats(shape);
  for (std::size_t i = 0; i < shape.samples(); ++i)
    reinterpret_cast<float*>(floats.data())[i] = float(std::to_integer<int>(image.data()[i]));
  for (const ColorMode color : {ColorMode::luma, ColorMode::ycbcr}) {
    const InspectionRequest request{
        .peak = {255}, .ranks = {10, 60, 80}, .targets = {}, .color = color};
    const Inspection rounded = inspect(image, request), exact = inspect(floats, request);
    for (std::size_t i = 0; i < rounded.ranks.size(); ++i) {
      EXPECT_NEAR(rounded.ranks[i].psnr_before_rounding_db, exact.ranks[i].psnr_before_rounding_db,
                  kMaxLossDb)
          << to_string(color) << ", rank " << rounded.ranks[i].rank();
    }
  }
}

/// As a run does. The quarter of darker pixels makes rank 1 exceed the largest sample elsewhere.
TEST(Inspection, clamps_pixels_to_the_largest_stored_sample) {
  constexpr int kSide = 16, kLargest = 4095;
  Image image({kSide, kSide, 1, Depth::u16});
  const auto plane = image.plane<std::uint16_t>(0);
  for (int row = 0; row < kSide; ++row) {
    for (int col = 0; col < kSide; ++col) plane(row, col) = row < 8 || col < 8 ? kLargest : 2000;
  }
  const auto inspect_with = [&](std::optional<int> largest_sample) {
    std::uint16_t max = 0;
    const Inspection inspection = inspect(
        image, {.peak = {kLargest}, .ranks = {1}, .targets = {}, .largest_sample = largest_sample},
        [&](std::size_t, const Reconstruction&, const Image& pixels) {
          const auto* samples = pixels.plane<std::uint16_t>(0).data;
          max = *std::max_element(samples, samples + kSide * kSide);
        });
    return std::pair(max, inspection.ranks[0].psnr_db);
  };
  const auto [max, psnr_db] = inspect_with({});
  const auto [clamped_max, clamped_psnr_db] = inspect_with(kLargest);
  EXPECT_GT(max, kLargest);
  EXPECT_EQ(clamped_max, kLargest);
  EXPECT_GT(clamped_psnr_db, psnr_db) << "measured after clamping";
}

/// The smallest singular values of noise on a bright image are below the resolution of A'A.
TEST(Inspection, measures_errors_that_the_singular_values_do_not_show) {
  constexpr int kSide = 64, kBright = 60000;
  Image image({kSide, kSide, 1, Depth::u16});
  const auto plane = image.plane<std::uint16_t>(0);
  std::mt19937 random(3);
  for (int row = 0; row < kSide; ++row) {
    for (int col = 0; col < kSide; ++col) plane(row, col) = std::uint16_t(kBright + random() % 3);
  }
  const Inspection inspection =
      inspect(image, {.peak = {65535}, .ranks = {kSide - 1, kSide}, .targets = {}});
  EXPECT_EQ(inspection.singular_values.front().back(), 0);
  const Reconstruction &almost = inspection.ranks[0], &full = inspection.ranks[1];
  EXPECT_EQ(almost.psnr_db, std::numeric_limits<double>::infinity());
  EXPECT_LT(almost.psnr_before_rounding_db, 200);
  EXPECT_EQ(full.psnr_before_rounding_db, std::numeric_limits<double>::infinity());
}

/// Walsh functions as columns, each half as large as the one before: singular values that fall to
/// the end.
Image geometric_spectrum() {
  constexpr int kRows = 256, kCols = 12;
  Image image({kRows, kCols, 1, Depth::f32});
  const auto plane = image.plane<float>(0);
  for (int row = 0; row < kRows; ++row) {
    for (int col = 0; col < kCols; ++col) {
      const bool is_negative = std::popcount(unsigned(row & col)) % 2 != 0;
      plane(row, col) = std::ldexp(is_negative ? -1.F : 1.F, -col);
    }
  }
  return image;
}

TEST(Inspection, finds_out_whether_there_is_white_noise) {
  const auto has_noise = [](const Image& image) {
    return !has_no_white_noise(
        inspect(image, {.peak = {255}, .ranks = {1}, .targets = common_targets()}));
  };
  EXPECT_TRUE(has_noise(synth::synthesize(
      {.kind = synth::SynthKind::noise, .rows = 96, .cols = 128, .channels = 1})));
  EXPECT_FALSE(has_noise(geometric_spectrum()));
}

TEST(BreakEvenRank, is_the_largest_rank_whose_factors_need_no_more_bytes_than_the_pixels) {
  for (const ImageShape& shape :
       {ImageShape{512, 768, 3, Depth::u8}, ImageShape{512, 768, 1, Depth::u16},
        ImageShape{1, 900, 1, Depth::u8}, ImageShape{3, 3, 3, Depth::u16},
        ImageShape{4000, 50, 3, Depth::u16}}) {
    const auto bytes = [&](int rank) {
      return rank * shape.channels * triplet_bytes(shape.rows, shape.cols);
    };
    const int rank = break_even_rank(shape);
    EXPECT_LE(bytes(rank), std::int64_t(shape.bytes()));
    EXPECT_GT(bytes(rank + 1), std::int64_t(shape.bytes()));
  }
}

TEST(BreakEvenRank, is_that_of_luma_if_chroma_has_its_own) {
  constexpr ImageShape kShape{512, 768, 3, Depth::u8};  // 230.2 triplets
  EXPECT_EQ(break_even_rank(kShape, 10), 210);
  EXPECT_EQ(break_even_rank(kShape, 114), 2);
  EXPECT_EQ(break_even_rank(kShape, 115), 0) << "rank 1 needs more";
  EXPECT_EQ(break_even_rank({100, 900, 3, Depth::u16}, 1), 100) << "the full rank";
}

TEST(Inspection, gives_chroma_its_own_rank) {
  const Image image = photograph(40, 70, 3);
  const auto inspect_with = [&](const std::optional<RankPolicy>& chroma_rank) {
    return inspect(image, {.peak = {255},
                           .ranks = {10, {Kind::energy, 0.99}},
                           .targets = {{Kind::psnr, 30}},
                           .color = ColorMode::ycbcr,
                           .chroma_rank = chroma_rank});
  };
  const Inspection same = inspect_with({}), own = inspect_with(3);
  EXPECT_EQ(same.ranks[0].channel_ranks, (std::vector{10, 10, 10}));
  EXPECT_EQ(own.ranks[0].channel_ranks, (std::vector{10, 3, 3}));
  EXPECT_EQ(own.ranks[0].factor_bytes, 16 * triplet_bytes(40, 70));
  EXPECT_EQ(own.ranks[0].rank(), 10);
  EXPECT_EQ(own.ranks[1].channel_ranks[1], 3);
  EXPECT_EQ(own.targets[0].channel_ranks[2], 3);
  EXPECT_LT(own.ranks[0].psnr_db, same.ranks[0].psnr_db);
  EXPECT_LT(own.ranks[0].energy, same.ranks[0].energy);
  EXPECT_EQ(own.chroma_rank, 3);
  EXPECT_EQ(same.chroma_rank, std::nullopt);
  EXPECT_EQ(inspect_with({{Kind::psnr, 30}}).chroma_rank, std::nullopt) << "it depends on pixels";
}

TEST(Inspection, has_the_channels_of_a_gray_image_in_every_color_mode) {
  const Image gray = photograph(20, 30, 1);
  for (const ColorMode color : {ColorMode::luma, ColorMode::ycbcr, ColorMode::joint}) {
    const Inspection inspection =
        inspect(gray, {.peak = {255}, .ranks = {3}, .targets = {}, .color = color});
    EXPECT_EQ(inspection.color, ColorMode::channels);
    EXPECT_EQ(inspection.matrices, gray.shape());
  }
}

TEST(CommonTarget, is_a_share_of_the_energy_a_psnr_a_size_or_a_noise_threshold) {
  EXPECT_EQ(common_targets(), (std::vector<RankPolicy>{{Kind::energy, 0.9},
                                                       {Kind::energy, 0.99},
                                                       {Kind::energy, 0.999},
                                                       {Kind::psnr, 30},
                                                       {Kind::psnr, 35},
                                                       {Kind::psnr, 40},
                                                       {Kind::bytes, 25},
                                                       {Kind::bytes, 50},
                                                       {Kind::gavish_donoho, 0},
                                                       {Kind::marchenko_pastur, 0}}));
}

TEST(DefaultRanks, has_the_break_even_rank_of_luma_if_chroma_has_its_own) {
  constexpr ImageShape kShape{512, 768, 3, Depth::u8};
  EXPECT_EQ(default_ranks(kShape, RankPolicy{10}),
            (std::vector<RankPolicy>{1, 2, 5, 10, 20, 50, 100, 200, 210}));
  EXPECT_EQ(default_ranks(kShape, RankPolicy{115}),
            (std::vector<RankPolicy>{1, 2, 5, 10, 20, 50, 100, 200}))
      << "none breaks even";
  EXPECT_EQ(default_ranks({40, 70, 1, Depth::u8}), (std::vector<RankPolicy>{1, 2, 5, 6, 10, 20}));
}

TEST(DefaultRanks, rises_from_1_to_half_of_the_full_rank) {
  EXPECT_EQ(default_ranks({512, 768, 3, Depth::u8}),
            (std::vector<RankPolicy>{1, 2, 5, 10, 20, 50, 76, 100, 200}));
  EXPECT_EQ(default_ranks({1, 1, 1, Depth::u8}), std::vector<RankPolicy>{1});
}

}  // namespace
}  // namespace eckart::inspection
