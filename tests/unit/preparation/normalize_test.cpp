#include "preparation/normalize.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::preparation {
namespace {

std::vector<int> normalized(const std::vector<int>& samples, Depth depth, int channels = 1) {
  const ImageShape shape{1, int(samples.size()) / channels, channels, depth};
  Image image(shape);
  for (std::size_t i = 0; i < samples.size(); ++i)
    test::set_sample(image, 0, int(i) / channels, int(i) % channels, samples[i]);
  normalize_minmax(image);
  std::vector<int> result;
  for (std::size_t i = 0; i < samples.size(); ++i)
    result.push_back(test::sample(image, 0, int(i) / channels, int(i) % channels));
  return result;
}

TEST(NormalizeMinmax, maps_the_range_to_all_levels) {
  EXPECT_EQ(normalized({10, 20, 61}, Depth::u8), (std::vector{0, 50, 255}));
  EXPECT_EQ(normalized({1000, 1001, 1005}, Depth::u16), (std::vector{0, 13107, 65535}));
}

TEST(NormalizeMinmax, rounds_halves_up) {
  EXPECT_EQ(normalized({4, 5, 6}, Depth::u8), (std::vector{0, 128, 255})) << "127.5";
  EXPECT_EQ(normalized({4, 5, 6}, Depth::u16), (std::vector{0, 32768, 65535})) << "32767.5";
}

TEST(NormalizeMinmax, has_one_map_for_all_channels) {
  EXPECT_EQ(normalized({0, 1, 2, 3, 4, 5}, Depth::u8, 3), (std::vector{0, 51, 102, 153, 204, 255}));
}

TEST(NormalizeMinmax, makes_a_constant_image_black) {
  EXPECT_EQ(normalized({7, 7, 7}, Depth::u8), (std::vector{0, 0, 0}));
  EXPECT_EQ(normalized({65535}, Depth::u16), (std::vector{0}));
}

TEST(NormalizeMinmax, keeps_an_image_that_has_the_whole_range) {
  for (const Depth depth : {Depth::u8, Depth::u16}) {
    const std::vector<int> samples{0, 1, 77, 254, peak(depth)};
    EXPECT_EQ(normalized(samples, depth), samples);
  }
}

TEST(NormalizeMinmax, is_the_nearest_level_of_the_linear_map) {
  const std::vector<int> samples{300, 301, 5000, 12345, 33333, 41000, 60001};
  const std::vector<int> result = normalized(samples, Depth::u16);
  for (std::size_t i = 0; i < samples.size(); ++i)
    EXPECT_EQ(result[i], std::floor((samples[i] - 300) * 65535.0 / (60001 - 300) + 0.5));
}

TEST(NormalizeMinmax, maps_floats_to_the_range_from_0_to_1_and_a_constant_image_to_0) {
  const auto normalized_floats = [](const std::vector<float>& samples) {
    Image image({1, int(samples.size()), 1, Depth::f32});
    std::ranges::copy(samples, image.plane<float>(0).data);
    normalize_minmax(image);
    const float* result = image.plane<float>(0).data;
    return std::vector<float>(result, result + samples.size());
  };
  EXPECT_EQ(normalized_floats({-2, 0, 6}), (std::vector<float>{0, 0.25F, 1}));
  EXPECT_EQ(normalized_floats({3, 3}), (std::vector<float>{0, 0}));
}

}  // namespace
}  // namespace eckart::preparation
