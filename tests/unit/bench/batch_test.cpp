#include "bench/operation/batch.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "bench/cpu/cpu_batch.hpp"
#include "bench/operation/engine_shares.hpp"

namespace eckart::bench {
namespace {

constexpr BatchShape kSmallBatch{.images = 5, .m = 40, .n = 24, .k = 6};

TEST(Batch, is_reconstructed_right_by_every_division_of_the_cores) {
  for (const auto& [at_once, cores] : {std::pair{1, 1}, {1, 2}, {2, 1}, {3, 1}, {8, 1}}) {
    const auto batch = make_cpu_batch(kSmallBatch, at_once, cores);
    EXPECT_GT(batch->run(), 0);
    for (int image = 0; image < kSmallBatch.images; ++image)
      EXPECT_TRUE(are_right(batch->pixels(image),
                            reference_pixels(kSmallBatch, random_factors(kSmallBatch, image))))
          << image << " of " << at_once << " at once";
  }
}

TEST(CpuPixels, has_right_pixels_and_errors_on_one_core_and_on_several) {
  const auto pixels = make_cpu_pixels(kSmallBatch, 3);
  ASSERT_EQ(pixels->variants().size(), 2U);
  for (std::size_t variant = 0; variant < 2; ++variant) {
    EXPECT_EQ(pixels->variants()[variant].cores, variant == 0 ? 1 : 3);
    EXPECT_GT(pixels->run(variant).compute_s, 0);
    for (int image = 0; image < kSmallBatch.images; ++image) {
      const ReconstructedPixels found = pixels->result(variant, image);
      EXPECT_TRUE(are_right(found.pixels,
                            reference_pixels(kSmallBatch, random_factors(kSmallBatch, image))));
      EXPECT_EQ(found.squared_error,
                squared_difference(found.pixels, original_pixels(kSmallBatch, image)));
    }
  }
}

TEST(PixelShortestTime, is_that_of_the_slower_of_memory_and_arithmetic) {
  const BatchShape shape{.images = 2, .m = 10, .n = 10, .k = 5};
  PixelVariant float32, float64, float16;
  float64.arithmetic = PixelVariant::Arithmetic::float64;
  float16.arithmetic = PixelVariant::Arithmetic::float16_products;
  EXPECT_EQ(pixel_flops(shape), 2 * 2 * 10 * 10 * 5);
  EXPECT_EQ(pixel_bytes(shape, float32), 2 * (4 * 100 + 200));
  EXPECT_EQ(pixel_bytes(shape, float64), 2 * (8 * 100 + 200));
  const Ceilings ceilings{
      .bytes_per_s = 100, .float32_per_s = 1000, .float64_per_s = 10, .tensor_per_s = 20};
  EXPECT_EQ(shortest_time(shape, float32, ceilings), 12) << "memory";
  EXPECT_EQ(shortest_time(shape, float64, ceilings), 200);
  EXPECT_EQ(shortest_time(shape, float16, ceilings), 50) << "twice the speed of TF32";
}

TEST(Batch, has_different_gray_images) {
  const auto first = reference_pixels(kSmallBatch, random_factors(kSmallBatch, 0));
  const auto second = reference_pixels(kSmallBatch, random_factors(kSmallBatch, 1));
  EXPECT_NE(first, second);
  EXPECT_FALSE(are_right(first, second));
  double sum = 0;
  for (const std::uint8_t pixel : first) sum += pixel;
  EXPECT_NEAR(sum / double(first.size()), 128, 10);
}

TEST(Batch, allows_a_difference_of_one_level_in_few_pixels) {
  const std::vector<std::uint8_t> reference(10000, 100);
  std::vector<std::uint8_t> pixels = reference;
  for (std::size_t i = 0; i < 10; ++i) pixels[i] = 101;
  EXPECT_TRUE(are_right(pixels, reference));
  for (std::size_t i = 0; i < 20; ++i) pixels[i] = 101;
  EXPECT_FALSE(are_right(pixels, reference));
  pixels = reference;
  pixels[0] = 102;
  EXPECT_FALSE(are_right(pixels, reference));
  pixels.pop_back();
  EXPECT_FALSE(are_right(pixels, reference));
}

TEST(EngineShare, is_that_of_the_time_from_first_to_last) {
  const EngineShares shares = engine_shares({{10, 12}, {11, 14}}, {{14, 16}}, {{15, 20}});
  EXPECT_DOUBLE_EQ(shares.copy_in, 0.4);  // overlapping parts count once
  EXPECT_DOUBLE_EQ(shares.compute, 0.2);
  EXPECT_DOUBLE_EQ(shares.copy_out, 0.5);
  EXPECT_DOUBLE_EQ(shares.overlap, 0.1);  // 15 to 16; parts of one engine do not count
}

TEST(EngineShare, counts_three_engines_at_once_like_two) {
  EXPECT_DOUBLE_EQ(engine_shares({{0, 4}}, {{0, 4}}, {{0, 4}}).overlap, 1);
  EXPECT_DOUBLE_EQ(engine_shares({{0, 4}}, {{2, 4}}, {{3, 4}}).overlap, 0.5);
}

TEST(EngineShare, is_0_without_work) {
  EXPECT_EQ(engine_shares({}, {}, {}).overlap, 0);
  EXPECT_EQ(engine_shares({{1, 1}}, {}, {}).copy_in, 0);
}

}  // namespace
}  // namespace eckart::bench
