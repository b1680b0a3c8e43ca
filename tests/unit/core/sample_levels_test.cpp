// Sizes and levels of samples, matrices and factors.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <type_traits>
#include <vector>

#include "core/color_mode.hpp"
#include "core/factors.hpp"
#include "core/image.hpp"
#include "core/mebibytes.hpp"
#include "core/picture.hpp"
#include "core/round_up.hpp"
#include "core/shared_bytes.hpp"
#include "core/stored_range.hpp"

namespace eckart {
namespace {

TEST(SampleType, has_a_size_a_peak_and_a_name) {
  EXPECT_EQ(peak(Depth::f32), 1);
  EXPECT_STREQ(sample_name(Depth::u8), "8-bit");
  EXPECT_STREQ(sample_name(Depth::u16), "16-bit");
  EXPECT_STREQ(sample_name(Depth::f32), "32-bit float");
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    EXPECT_EQ(is_float(depth), depth == Depth::f32);
    EXPECT_EQ(with_sample_type(depth, []<class T>(T*) { return sizeof(T); }), std::size_t(depth));
    EXPECT_EQ(with_sample_type(depth, []<class T>(T*) { return std::is_floating_point_v<T>; }),
              is_float(depth));
  }
}

TEST(MatrixShape, is_that_of_the_color_mode) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    SCOPED_TRACE(sample_name(depth));
    const ImageShape color{4, 5, 3, depth};
    const Depth luma_depth = is_float(depth) ? depth : Depth::u16;
    EXPECT_EQ(matrices_shape(color, ColorMode::channels), color);
    EXPECT_EQ(matrices_shape(color, ColorMode::luma), (ImageShape{4, 5, 1, luma_depth}));
    EXPECT_EQ(matrices_shape(color, ColorMode::ycbcr), (ImageShape{4, 5, 3, luma_depth}));
    EXPECT_EQ(matrices_shape(color, ColorMode::joint), (ImageShape{4, 15, 1, depth}));
    EXPECT_EQ(stored_matrices_shape(color, ColorMode::luma), (ImageShape{4, 5, 1, depth}));
    EXPECT_EQ(stored_matrices_shape(color, ColorMode::ycbcr), color);
    EXPECT_EQ(stored_matrices_shape(color, ColorMode::joint), (ImageShape{4, 15, 1, depth}));
    for (const ColorMode mode : enum_values<ColorMode>()) {
      const ImageShape gray{4, 5, 1, depth};
      EXPECT_EQ(matrices_shape(gray, mode), gray);
      EXPECT_EQ(matrices_scale(gray, mode), 1);
    }
  }
}

TEST(MatrixScale, has_eight_binary_digits_for_luma_of_8_bits) {
  for (const Depth depth : {Depth::u8, Depth::u16, Depth::f32}) {
    SCOPED_TRACE(sample_name(depth));
    const ImageShape color{4, 5, 3, depth};
    const double steps = depth == Depth::u8 ? 256 : 1;
    EXPECT_EQ(matrices_scale(color, ColorMode::channels), 1);
    EXPECT_EQ(matrices_scale(color, ColorMode::joint), 1);
    EXPECT_EQ(matrices_scale(color, ColorMode::luma), steps);
    // A change of Cb by 1 has the squared error 0.344^2 + 1.772^2 in the pixels.
    EXPECT_NEAR(matrices_scale(color, ColorMode::ycbcr),
                steps / std::sqrt(0.344136 * 0.344136 + 1.772 * 1.772), 1e-5 * steps);
  }
}

TEST(FactorLevel, is_multiplied_with_its_energy) {
  Factors factors{.rows = 3, .cols = 2, .s = {4, 2}, .u = {1}, .vt = {1}, .squared_norm = 24};
  EXPECT_EQ(factors.rank(), 2);
  factors.scale_levels(0.5);
  EXPECT_EQ(factors.s, (std::vector<double>{2, 1}));
  EXPECT_EQ(factors.squared_norm, 6);
  EXPECT_EQ(factors.u, std::vector<float>{1});
  EXPECT_EQ(factors.vt, std::vector<float>{1});
  EXPECT_EQ(factor_bytes(300, 200, 7), 7u * (4 * 500 + 8));
  EXPECT_EQ(factor_bytes(65535, 65535, 65535), 65535ull * (4ull * 131070 + 8));
}

TEST(Mebibyte, counts_as_a_whole_if_begun) {
  EXPECT_EQ(in_mebibytes(0), 0);
  EXPECT_EQ(in_mebibytes(1), 1);
  EXPECT_EQ(in_mebibytes(kMiB), 1);
  EXPECT_EQ(in_mebibytes(kMiB + 1), 2);
  EXPECT_EQ(in_mebibytes(~std::uint64_t(0)), std::int64_t(1) << 44);
}

TEST(RoundUp, gives_the_next_multiple) {
  for (const auto& [n, rounded] : {std::array{0, 0}, {1, 32}, {31, 32}, {32, 32}, {33, 64}})
    EXPECT_EQ(round_up(n, 32), rounded) << n;
}

TEST(SharedByteSpan, exists_as_long_as_a_copy) {
  auto owner = std::make_shared<std::vector<std::byte>>(5, std::byte{7});
  const std::weak_ptr<const void> alive = owner;
  const std::span<const std::byte> bytes = *owner;
  std::optional<SharedBytes> copy;
  {
    const SharedBytes first(std::move(owner), bytes);
    copy = first;
  }
  EXPECT_FALSE(alive.expired());
  EXPECT_EQ(copy->size(), 5u);
  EXPECT_FALSE(copy->empty());
  EXPECT_EQ(std::span<const std::byte>(*copy).data(), bytes.data());
  copy.reset();
  EXPECT_TRUE(alive.expired());
  EXPECT_TRUE(SharedBytes().empty());
  const SharedBytes own(std::vector<std::byte>(3, std::byte{9}));
  const SharedBytes shared = own;
  ASSERT_EQ(shared.size(), 3u);
  EXPECT_EQ(std::span<const std::byte>(shared)[2], std::byte{9});
}

TEST(Metadata, counts_all_blobs) {
  Metadata metadata;
  metadata.icc.resize(1);
  metadata.exif.resize(10);
  metadata.xmp.resize(100);
  EXPECT_EQ(metadata.bytes(), 111u);
}

TEST(ImageShapeChange, keeps_the_pixels) {
  Image image({2, 6, 1, Depth::u8});
  const std::byte* const pixels = image.data();
  const Image reshaped = std::move(image).reshaped({2, 2, 3, Depth::u8});
  EXPECT_EQ(reshaped.data(), pixels);
  EXPECT_EQ(reshaped.shape(), (ImageShape{2, 2, 3, Depth::u8}));
}

Metadata dicom_of_bits(int bits) {
  Metadata metadata;
  metadata.dicom.emplace();
  metadata.dicom->bits_stored = bits;
  return metadata;
}

TEST(StoredRange, is_limited_by_the_bits_of_a_dicom_image) {
  EXPECT_EQ(largest_stored_sample({}, Depth::u16), std::nullopt);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(0), Depth::u16), std::nullopt);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(16), Depth::u16), std::nullopt);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(8), Depth::u8), std::nullopt);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(7), Depth::u8), 127);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(12), Depth::u16), 4095);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(15), Depth::u16), 32767);
  EXPECT_EQ(largest_stored_sample(dicom_of_bits(1), Depth::u16), 1);
}

Image row_of_samples(const std::vector<std::uint16_t>& samples) {
  Image image({1, int(samples.size()), 1, Depth::u16});
  std::memcpy(image.data(), samples.data(), image.bytes());
  return image;
}

std::vector<std::uint16_t> samples_of_row(const Image& image) {
  std::vector<std::uint16_t> samples(image.shape().samples());
  std::memcpy(samples.data(), image.data(), image.bytes());
  return samples;
}

TEST(StoredRange, clamps_larger_samples_and_tells_whether_there_were_any) {
  Image image = row_of_samples({0, 4094, 4095, 4096, 65535});
  EXPECT_TRUE(clamp_samples(image, 4095));
  EXPECT_THAT(samples_of_row(image), testing::ElementsAre(0, 4094, 4095, 4095, 4095));
  EXPECT_FALSE(clamp_samples(image, 4095));

  Picture picture{row_of_samples({5000, 3, 4096}), {}, dicom_of_bits(12)};
  clamp_to_stored_bits(picture);
  EXPECT_THAT(samples_of_row(picture.pixels), testing::ElementsAre(4095, 3, 4095));
  picture = {row_of_samples({65535}), {}, {}};
  clamp_to_stored_bits(picture);
  EXPECT_THAT(samples_of_row(picture.pixels), testing::ElementsAre(65535));
}

}  // namespace
}  // namespace eckart
