#include "codec/output_metadata.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "codec/exif.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/metadata_file.hpp"

namespace eckart::codec {
namespace {

using test::all_metadata;
using test::as_bytes;
using test::as_string;
using test::Bytes;
using test::encode_with;
using test::kMetadataShape;
using test::make_exif;
using test::make_icc;
using test::read_metadata;
using testing::IsEmpty;
using testing::Not;

class OutputMetadataTest : public testing::TestWithParam<ImageFormat> {};
INSTANTIATE_TEST_SUITE_P(Formats, OutputMetadataTest,
                         testing::Values(ImageFormat::png, ImageFormat::jpeg, ImageFormat::tiff,
                                         ImageFormat::webp),
                         [](const auto& test) { return to_string(test.param); });

TEST_P(OutputMetadataTest, follows_the_policy) {
  const Codec& codec = codec_for(GetParam());
  Metadata source = all_metadata();
  source.color.gamma = 45455;
  source.subsampling = ChromaSubsampling{2, 2};
  const Metadata keep = output_metadata(source, MetadataPolicy::keep, codec, kMetadataShape);
  EXPECT_EQ(keep.icc, source.icc);
  EXPECT_FALSE(keep.exif.empty());
  EXPECT_EQ(keep.xmp, source.xmp);
  EXPECT_EQ(keep.density, source.density);
  const Metadata icc = output_metadata(source, MetadataPolicy::icc, codec, kMetadataShape);
  EXPECT_EQ(icc.bytes(), source.icc.size());
  EXPECT_EQ(icc.color, GetParam() == ImageFormat::png ? source.color : PngColor{});
  EXPECT_EQ(icc.density, std::nullopt);
  const Metadata none = output_metadata(source, MetadataPolicy::none, codec, kMetadataShape);
  EXPECT_EQ(none.bytes(), 0U);
  EXPECT_EQ(none.color, PngColor{});
  EXPECT_EQ(none.subsampling, source.subsampling);
}

TEST_P(OutputMetadataTest, has_the_orientation_of_upright_pixels) {
  const Metadata source{.exif = make_exif({.orientation = 6}),
                        .xmp = as_bytes(R"(<a tiff:Orientation="6"/>)")};
  const Metadata metadata =
      output_metadata(source, MetadataPolicy::keep, codec_for(GetParam()), kMetadataShape);
  EXPECT_EQ(exif_orientation(metadata.exif), 1);
  EXPECT_EQ(as_string(metadata.xmp), R"(<a tiff:Orientation="1"/>)");
}

TEST_P(OutputMetadataTest, has_no_profile_for_other_channels) {
  const Codec& codec = codec_for(GetParam());
  const ImageShape gray{24, 16, 1, Depth::u8};
  const auto icc_of = [&](const char* space, const ImageShape& shape) {
    return output_metadata({.icc = make_icc(space)}, MetadataPolicy::keep, codec, shape).icc;
  };
  EXPECT_THAT(icc_of("RGB ", gray), IsEmpty());
  EXPECT_THAT(icc_of("GRAY", gray), Not(IsEmpty()));
  EXPECT_THAT(icc_of("GRAY", kMetadataShape), IsEmpty());
  EXPECT_THAT(icc_of("CMYK", kMetadataShape), IsEmpty());
}

TEST(OutputMetadata, is_dropped_and_named_if_it_does_not_fit_a_jpeg) {
  Metadata source{.exif = make_exif(), .xmp = Bytes(65505, std::byte(' '))};
  source.exif.resize(70000);
  const Codec& jpeg = codec_for(ImageFormat::jpeg);
  const Metadata metadata = output_metadata(source, MetadataPolicy::keep, jpeg, kMetadataShape);
  EXPECT_EQ(metadata.dropped, "EXIF (too large for jpeg), XMP (too large for jpeg)");
  EXPECT_EQ(metadata.bytes(), 0U);
  source.xmp.pop_back();
  source.exif.resize(65527);
  const Metadata fits = output_metadata(source, MetadataPolicy::keep, jpeg, kMetadataShape);
  const Metadata written = read_metadata(encode_with(ImageFormat::jpeg, fits));
  EXPECT_EQ(written.xmp, source.xmp);
  EXPECT_EQ(written.exif.size(), source.exif.size());
}

TEST(OutputMetadata, names_all_that_a_pnm_cannot_hold) {
  const Metadata metadata = output_metadata(all_metadata(), MetadataPolicy::keep,
                                            codec_for(ImageFormat::pnm), kMetadataShape);
  EXPECT_EQ(metadata.dropped,
            "ICC profile (not in pnm), EXIF (not in pnm), XMP (not in pnm), resolution (not in "
            "pnm)");
  EXPECT_EQ(metadata.bytes(), 0U);
  EXPECT_EQ(metadata.density, std::nullopt);
  EXPECT_THAT(output_metadata({}, MetadataPolicy::keep, codec_for(ImageFormat::pnm), kMetadataShape)
                  .dropped,
              IsEmpty());
}

TEST(OutputMetadata, names_colors_that_only_a_png_can_hold_if_they_change) {
  const auto dropped = [](const PngColor& color, ImageFormat format = ImageFormat::jpeg,
                          const Bytes& icc = {}) {
    return output_metadata({.icc = icc, .color = color}, MetadataPolicy::icc, codec_for(format),
                           kMetadataShape)
        .dropped;
  };
  const PngColor linear{.gamma = 100000}, srgb{.gamma = 45455}, hdr{.cicp = {{9, 16, 0, 1}}};
  EXPECT_EQ(dropped(linear), "gamma, chromaticities or cICP (not in jpeg)");
  EXPECT_EQ(dropped(hdr, ImageFormat::tiff), "gamma, chromaticities or cICP (not in tiff)");
  EXPECT_THAT(dropped(linear, ImageFormat::png), IsEmpty());
  EXPECT_THAT(dropped(linear, ImageFormat::jpeg, make_icc()), IsEmpty()) << "has a profile";
  EXPECT_THAT(dropped(srgb), IsEmpty());
  EXPECT_THAT(dropped({.gamma = 46455}), IsEmpty()) << "that of sRGB within 0.01";
  EXPECT_THAT(dropped({.gamma = 46456}), Not(IsEmpty()));
  EXPECT_THAT(dropped({.gamma = 100000, .rendering_intent = std::uint8_t(0)}), IsEmpty());
  EXPECT_THAT(dropped({.cicp = {{1, 13, 0, 1}}}), IsEmpty());
}

TEST(OutputMetadata, names_chromaticities_that_are_not_those_of_srgb) {
  const std::array<std::uint32_t, 8> srgb{31270, 32900, 64000, 33000, 30000, 60000, 15000, 6000};
  const auto dropped = [](const PngColor& color) {
    return output_metadata({.color = color}, MetadataPolicy::keep, codec_for(ImageFormat::webp),
                           kMetadataShape)
        .dropped;
  };
  EXPECT_EQ(dropped({.chromaticities = srgb}), "");
  for (std::size_t i = 0; i < srgb.size(); ++i) {
    std::array<std::uint32_t, 8> changed = srgb;
    changed[i] += 1000;
    EXPECT_EQ(dropped({.chromaticities = changed}), "") << i;
    changed[i] += 1;
    EXPECT_EQ(dropped({.chromaticities = changed}), "gamma, chromaticities or cICP (not in webp)")
        << i;
    EXPECT_EQ(dropped({.gamma = 45455, .chromaticities = changed}),
              "gamma, chromaticities or cICP (not in webp)")
        << i;
  }
  EXPECT_EQ(dropped({.cicp = {{1, 8, 0, 1}}, .rendering_intent = std::uint8_t(0)}),
            "gamma, chromaticities or cICP (not in webp)")
      << "cICP precedes sRGB";
}

TEST_P(OutputMetadataTest, drops_no_more_than_the_format_cannot_hold) {
  const Codec& codec = codec_for(GetParam());
  Metadata source = all_metadata();
  source.dropped = "eXIf chunk (wrong CRC)";
  source.dicom.emplace();
  const Metadata metadata = output_metadata(source, MetadataPolicy::keep, codec, kMetadataShape);
  EXPECT_EQ(metadata.dropped, "") << "what the input lost is not what the output lacks";
  EXPECT_EQ(metadata.dicom, std::nullopt);
}

}  // namespace
}  // namespace eckart::codec
