#include "codec/exif.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>

#include "codec/exif_entries.hpp"
#include "codec/exif_tags.hpp"
#include "codec/tiff_directory.hpp"
#include "codec/tiff_reader.hpp"
#include "tests/unit/codec/make_metadata.hpp"

namespace eckart::codec {
namespace {

using test::as_bytes;
using test::as_string;
using test::Bytes;
using test::make_exif;
using testing::HasSubstr;
using testing::Not;

/// The value of an entry in the directory of pixel dimensions.
std::uint32_t pixel_dimension(const Bytes& exif, std::uint32_t tag) {
  const TiffReader tiff(exif);
  const auto link = tiff.find(tiff.first_directory(), 0x8769);
  return tiff.integer(tiff.find(tiff.integer(*link), tag).value());
}

TEST(Exif, gets_a_normal_orientation_and_the_size_of_the_image) {
  for (const bool is_little_endian : {true, false}) {
    Bytes exif = make_exif({.is_little_endian = is_little_endian, .orientation = 6});
    EXPECT_EQ(exif_orientation(exif), 6);
    make_exif_upright(exif, 641, 479);
    EXPECT_EQ(exif_orientation(exif), 1);
    EXPECT_EQ(pixel_dimension(exif, 0xA002), 479U);
    EXPECT_EQ(pixel_dimension(exif, 0xA003), 641U);
    EXPECT_THAT(as_string(exif), HasSubstr("Copyright Somebody"));
    EXPECT_THAT(as_string(exif), HasSubstr("2020:01:02 03:04:05"));
    EXPECT_THAT(as_string(exif), HasSubstr("Maker"));
  }
}

TEST(Exif, loses_the_thumbnail_and_its_bytes) {
  for (const bool is_little_endian : {true, false}) {
    const Bytes without =
        make_exif({.is_little_endian = is_little_endian, .orientation = 1, .has_thumbnail = false});
    Bytes exif = make_exif({.is_little_endian = is_little_endian, .orientation = 1});
    make_exif_upright(exif, 480, 640);
    EXPECT_EQ(as_string(exif), as_string(without));
  }
}

TEST(Exif, keeps_data_behind_the_thumbnail_in_its_place) {
  for (const bool is_compressed : {true, false}) {
    const Bytes before =
        make_exif({.is_thumbnail_compressed = is_compressed, .after_thumbnail = "other data"});
    Bytes exif = before;
    make_exif_upright(exif, 480, 640);
    EXPECT_THAT(as_string(exif), Not(HasSubstr("THUMBNAIL")));
    EXPECT_EQ(exif.size(), before.size());
    EXPECT_TRUE(as_string(exif).ends_with("other data"));
  }
}

TEST(Exif, loses_an_uncompressed_thumbnail) {
  Bytes exif = make_exif({.is_thumbnail_compressed = false});
  make_exif_upright(exif, 480, 640);
  EXPECT_EQ(as_string(exif), as_string(make_exif({.orientation = 1, .has_thumbnail = false})));
}

/// Every byte wrong in turn, and every length.
TEST(Exif, may_be_damaged_in_any_way) {
  const Bytes whole = make_exif();
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int value : {0, 1, 0x7F, 0xFF}) {
      Bytes exif = whole;
      exif[i] = std::byte(value);
      make_exif_upright(exif, 480, 640);
      EXPECT_LE(exif.size(), whole.size());
      EXPECT_EQ(exif_orientation(exif), 1);
      exif_density(exif);
    }
    Bytes exif(whole.begin(), whole.begin() + std::ptrdiff_t(i));
    make_exif_upright(exif, 480, 640);
    EXPECT_LE(exif.size(), i);
    exif_density(exif);
  }
}

TEST(Exif, gives_the_resolution_per_meter) {
  EXPECT_EQ(exif_density(make_exif()), (PixelDensity{11811, 5906}));
  EXPECT_EQ(exif_density({}), std::nullopt);
}

TEST(Xmp, gets_a_normal_orientation) {
  for (const auto& [before, after] : std::vector<std::pair<std::string, std::string>>{
           {R"(<a tiff:Orientation="6" b="6"/>)", R"(<a tiff:Orientation="1" b="6"/>)"},
           {"<a tiff:Orientation = '8'/>", "<a tiff:Orientation = '1'/>"},
           {"<tiff:Orientation>3</tiff:Orientation>", "<tiff:Orientation>1</tiff:Orientation>"},
           {"<a tiff:Orientation", "<a tiff:Orientation"},
           {"", ""}}) {
    Bytes xmp = as_bytes(before);
    make_xmp_upright(xmp);
    EXPECT_EQ(as_string(xmp), after);
  }
}

PixelDensity density_of(std::uint32_t unit, std::array<std::uint32_t, 2> x,
                        std::array<std::uint32_t, 2> y) {
  const auto number = [](std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += char(value >> 8 * i & 0xFF);
    return text;
  };
  const auto rational = [&](std::uint32_t tag, const std::array<std::uint32_t, 2>& value) {
    return TiffEntry{tag, TiffType::kRational, 1,
                     as_bytes(number(value[0], 4) + number(value[1], 4))};
  };
  ExifEntries entries{
      .first = {rational(ExifTag::kXResolution, x), rational(ExifTag::kYResolution, y)}};
  if (unit > 0)
    entries.first.push_back(
        {ExifTag::kResolutionUnit, TiffType::kShort, 1, as_bytes(number(unit, 2))});
  Bytes exif;
  write_exif_entries(entries, exif);
  return exif_density(exif).value_or(PixelDensity{});
}

TEST(ExifDensity, depends_on_the_unit) {
  const PixelDensity none{};
  EXPECT_EQ(density_of(0, {300, 1}, {150, 1}), (PixelDensity{11811, 5906})) << "inches";
  EXPECT_EQ(density_of(2, {300, 1}, {150, 1}), (PixelDensity{11811, 5906}));
  EXPECT_EQ(density_of(3, {300, 1}, {1, 2}), (PixelDensity{30000, 50})) << "centimeters";
  EXPECT_EQ(density_of(1, {4, 1}, {3, 1}), (PixelDensity{4, 3, true})) << "a ratio";
  EXPECT_EQ(density_of(1, {3, 1}, {3, 1}), none);
  EXPECT_EQ(density_of(4, {300, 1}, {150, 1}), none);
  EXPECT_EQ(density_of(2, {300, 0}, {150, 1}), none);
  EXPECT_EQ(density_of(2, {300, 1}, {150, 0}), none);
  EXPECT_EQ(density_of(2, {0, 1}, {150, 1}), none);
  EXPECT_EQ(density_of(3, {0xFFFFFFFF, 1}, {150, 1}), none) << "does not fit";
}

TEST(Exif, has_the_orientation_of_its_first_valid_entry) {
  for (int orientation = 1; orientation <= 8; ++orientation) {
    for (const bool is_little_endian : {true, false})
      EXPECT_EQ(exif_orientation(
                    make_exif({.is_little_endian = is_little_endian, .orientation = orientation})),
                orientation);
  }
  EXPECT_EQ(exif_orientation(make_exif({.orientation = 0})), 1);
  EXPECT_EQ(exif_orientation(make_exif({.orientation = 9})), 1);
  EXPECT_EQ(exif_orientation({}), 1);
  EXPECT_TRUE(is_exif(make_exif()));
  EXPECT_FALSE(is_exif(as_bytes(std::string_view("II*\0\10\0\0\0\0\0", 10)))) << "no entry";
  EXPECT_FALSE(is_exif({}));
}

}  // namespace
}  // namespace eckart::codec
