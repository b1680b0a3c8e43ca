#include "codec/exif_entries.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "codec/exif_tags.hpp"
#include "codec/output_metadata.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/metadata_file.hpp"

namespace eckart::codec {
namespace {

using namespace std::string_literals;
using test::all_metadata;
using test::as_bytes;
using test::as_string;
using test::Bytes;
using test::encode_with;
using test::kMetadataShape;
using test::make_exif;
using test::read_metadata;
using testing::IsEmpty;

/// The value of an entry of the first directory, or of one that it names.
std::string text_of(const Bytes& tiff, std::uint32_t tag, std::uint32_t directory_tag = 0) {
  const TiffReader reader(tiff);
  std::size_t directory = reader.first_directory();
  if (directory_tag != 0) directory = reader.integer(reader.find(directory, directory_tag).value());
  const auto entry = reader.find(directory, tag);
  if (!entry) return "missing";
  return as_string(tiff).substr(reader.value_offset(*entry), reader.value_bytes(*entry) - 1);
}

/// Entries of the first directory and of the EXIF directory, in the byte order of the file.
TEST(TiffMetadata, has_the_entries_of_exif_in_its_directories) {
  for (const bool is_little_endian : {true, false}) {
    Metadata written = all_metadata();
    written.exif = make_exif({.is_little_endian = is_little_endian, .orientation = 1});
    const Bytes file = encode_with(ImageFormat::tiff, written);
    EXPECT_EQ(text_of(file, ExifTag::kMaker), "Maker");
    EXPECT_EQ(text_of(file, ExifTag::kDate), "2020:01:02 03:04:05");
    EXPECT_EQ(text_of(file, ExifTag::kCopyright), "Copyright Somebody");
    const Metadata metadata = read_metadata(file);
    EXPECT_EQ(metadata.icc, written.icc);
    EXPECT_EQ(metadata.xmp, written.xmp);
    EXPECT_EQ(metadata.density, written.density);
    EXPECT_EQ(text_of(metadata.exif, ExifTag::kMaker), "Maker");
    const TiffReader exif(metadata.exif);
    const auto link = exif.find(exif.first_directory(), ExifTag::kExifDirectory);
    ASSERT_TRUE(link);
    EXPECT_EQ(exif.integer(exif.find(exif.integer(*link), ExifTag::kPixelCols).value()), 640U);
    EXPECT_THAT(metadata.dropped, IsEmpty());
  }
}

TEST(TiffMetadata, keeps_positions_and_leaves_out_offsets_into_the_file) {
  Bytes exif = make_exif({.orientation = 1, .has_thumbnail = false});
  const TiffEntry position{1, TiffType::kAscii, 2, as_bytes("N\0"s)};
  write_exif_entries(
      {.exif = {{ExifTag::kInteroperability, TiffType::kLong, 1, as_bytes("\1\0\0\0"s)}},
       .gps = {position}},
      exif);
  const Metadata metadata = read_metadata(encode_with(ImageFormat::tiff, {.exif = exif}));
  EXPECT_EQ(text_of(metadata.exif, position.tag, ExifTag::kGpsDirectory), "N");
  EXPECT_EQ(read_exif_entries(metadata.exif, 1000)->exif.size(), 0U);
}

TEST(TiffMetadata, is_dropped_if_its_entries_share_more_bytes_than_fit) {
  ExifEntries entries;
  for (std::uint32_t tag = 1; tag < 100; ++tag)
    entries.exif.push_back({tag, TiffType::kAscii, 10, Bytes(10, std::byte('x'))});
  Bytes exif;
  write_exif_entries(entries, exif);
  EXPECT_EQ(read_exif_entries(exif, 1000000)->exif.size(), 99U);
  EXPECT_EQ(read_exif_entries(exif, 900), std::nullopt);
}

TEST(TiffMetadata, skips_entries_that_are_damaged) {
  Bytes exif = make_exif({.orientation = 1, .has_thumbnail = false});
  for (std::size_t size = 0; size < exif.size(); ++size)
    EXPECT_TRUE(read_exif_entries(std::span(exif).first(size), 1000000));
  for (std::size_t at = 8; at < exif.size(); ++at) {
    Bytes damaged = exif;
    damaged[at] = std::byte(0xFF);
    EXPECT_TRUE(read_exif_entries(damaged, 1000000));
  }
}

TEST(Metadata, has_densities_of_all_units_in_exif) {
  for (const PixelDensity density :
       {PixelDensity{11811, 2835}, {10000, 20000}, {1234, 5678}, {3, 4, true}}) {
    for (const ImageFormat format : {ImageFormat::webp, ImageFormat::tiff}) {
      EXPECT_EQ(read_metadata(encode_with(format, {.density = density})).density, density);
      Metadata other = all_metadata();
      other.density = density;
      EXPECT_EQ(read_metadata(encode_with(format, other)).density, density)
          << "in place of that of EXIF";
    }
  }
}

TEST(Metadata, has_the_stamp_in_exif_if_there_is_no_other_place) {
  const std::vector<TextEntry> texts{
      {"Software", "eckart 1"}, {"eckart:rank", "20"}, {"eckart:color", "luma"}};
  Metadata written;
  write_exif_entries(
      {.first = {{ExifTag::kDescription, TiffType::kAscii, 6, as_bytes("a dog\0"s)}}},
      written.exif);
  for (const ImageFormat format : {ImageFormat::webp, ImageFormat::tiff}) {
    const Metadata metadata = read_metadata(encode_with(format, written, {}, texts));
    EXPECT_EQ(text_of(metadata.exif, ExifTag::kSoftware), "eckart 1");
    EXPECT_EQ(text_of(metadata.exif, ExifTag::kDescription),
              "a dog\neckart:rank: 20\neckart:color: luma");
    const Metadata next =
        output_metadata(metadata, MetadataPolicy::keep, codec_for(format), kMetadataShape);
    EXPECT_EQ(text_of(next.exif, ExifTag::kDescription), "a dog") << "the stamp of the input";
  }
}

/// tifffile refuses a file whose description is of another shape, or JSON with more behind it.
TEST(ExifEntries, loses_what_programs_say_of_the_storage_of_pixels) {
  const auto kept = [](const std::string& description) {
    Bytes exif;
    const std::string text = description + '\0';
    write_exif_entries({.first = {{ExifTag::kDescription, TiffType::kAscii,
                                   std::uint32_t(text.size()), as_bytes(text)}}},
                       exif);
    remove_description(exif);
    return text_of(exif, ExifTag::kDescription);
  };
  EXPECT_EQ(kept(R"({"shape": [5, 7]})"), "");
  EXPECT_EQ(kept("ImageJ=1.53\nimages=1\n"), "");
  EXPECT_EQ(kept("<?xml version=\"1.0\"?><OME/>"), "");
  EXPECT_EQ(kept("a dog\nin the garden"), "a dog\nin the garden");
}

}  // namespace
}  // namespace eckart::codec
