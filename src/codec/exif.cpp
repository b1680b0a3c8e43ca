#include "codec/exif.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "codec/density_units.hpp"
#include "codec/exif_tags.hpp"
#include "codec/orientation.hpp"
#include "codec/tiff_reader.hpp"

namespace eckart::codec {
namespace {

void write(std::vector<std::byte>& data, std::size_t offset, std::size_t bytes,
           std::uint32_t value) {
  const bool is_little_endian = TiffReader(data).is_little_endian();
  for (std::size_t i = 0; i < bytes; ++i)
    data[offset + (is_little_endian ? i : bytes - 1 - i)] = std::byte(value >> 8 * i & 0xFF);
}

/// Sets the value of an entry of one integer.
void set_integer(std::vector<std::byte>& exif, std::optional<std::size_t> entry, int value) {
  if (!entry) return;
  const std::uint32_t type = TiffReader(exif).type_of(*entry);
  if (type != TiffType::kShort && type != TiffType::kLong) return;
  write(exif, *entry + 4, 4, 1);
  write(exif, *entry + 8, 4, 0);
  write(exif, *entry + 8, type == TiffType::kShort ? 2 : 4, std::uint32_t(value));
}

/// Sets the values of all entries of a tag to 1: a second one must not turn the image.
void reset_orientation(std::vector<std::byte>& exif) {
  const TiffReader tiff(exif);
  const std::size_t directory = tiff.first_directory();
  for (std::size_t i = 0; i < tiff.entries(directory); ++i) {
    const std::size_t entry = TiffReader::entry(directory, i);
    if (tiff.at(entry, 2) == ExifTag::kOrientation) set_integer(exif, entry, 1);
  }
}

void set_pixel_dimensions(std::vector<std::byte>& exif, int rows, int cols) {
  const TiffReader tiff(exif);
  const auto link = tiff.find(tiff.first_directory(), ExifTag::kExifDirectory);
  if (!link) return;
  const std::size_t directory = tiff.integer(*link);
  const auto pixel_cols = tiff.find(directory, ExifTag::kPixelCols);
  const auto pixel_rows = tiff.find(directory, ExifTag::kPixelRows);
  set_integer(exif, pixel_cols, cols);
  set_integer(exif, pixel_rows, rows);
}

struct Range {
  std::size_t begin, end;
};

/// Returns the bytes of the second directory: its entries, their values, and the pixels of the
/// thumbnail.
std::vector<Range> thumbnail_ranges(const TiffReader& tiff, std::size_t directory) {
  std::vector<Range> ranges{{directory, tiff.end_of_entries(directory) + 4}};
  const auto add = [&](std::size_t offset, std::uint64_t bytes) {
    ranges.push_back({offset, offset + std::size_t(bytes)});
  };
  for (std::size_t i = 0; i < tiff.entries(directory); ++i) {
    const std::size_t entry = TiffReader::entry(directory, i);
    if (tiff.value_bytes(entry) > 4) add(tiff.value_offset(entry), tiff.value_bytes(entry));
  }
  const auto add_pixels = [&](std::uint32_t offset_tag, std::uint32_t bytes_tag) {
    const auto offset = tiff.find(directory, offset_tag), bytes = tiff.find(directory, bytes_tag);
    if (offset && bytes) add(tiff.integer(*offset), tiff.integer(*bytes));
  };
  add_pixels(ExifTag::kThumbnail, ExifTag::kThumbnailBytes);
  add_pixels(ExifTag::kStripOffsets, ExifTag::kStripByteCounts);
  return ranges;
}

/// Clears the thumbnail, and removes the cleared bytes at the end. Offsets of other entries stay
/// valid.
void remove_thumbnail(std::vector<std::byte>& exif) {
  const TiffReader tiff(exif);
  const std::size_t link = tiff.end_of_entries(tiff.first_directory());
  const std::size_t directory = tiff.at(link, 4);
  if (directory == 0 || link + 4 > exif.size()) return;
  std::vector<Range> ranges = thumbnail_ranges(tiff, directory);
  // A range that is damaged must not clear the first directory.
  std::erase_if(ranges, [&](const Range& range) {
    return range.begin < link + 4 || range.begin > range.end || range.end > exif.size();
  });
  std::sort(ranges.begin(), ranges.end(),
            [](const Range& a, const Range& b) { return a.end > b.end; });
  write(exif, link, 4, 0);
  constexpr std::size_t kPadding = 1;  // values begin at even offsets
  for (const Range& range : ranges) {
    const std::size_t end = std::min(range.end, exif.size());
    if (range.begin < end)
      std::fill(exif.begin() + std::ptrdiff_t(range.begin), exif.begin() + std::ptrdiff_t(end),
                std::byte(0));
    if (range.end + kPadding >= exif.size()) exif.resize(std::min(exif.size(), range.begin));
  }
}

}  // namespace

std::span<const std::byte> exif_of_chunk(std::span<const std::byte> data) {
  const std::string_view text(reinterpret_cast<const char*>(data.data()), data.size());
  return text.starts_with(kExifPrefix) ? data.subspan(kExifPrefix.size()) : data;
}

bool is_exif(std::span<const std::byte> exif) {
  const TiffReader tiff(exif);
  return tiff.is_valid() && tiff.entries(tiff.first_directory()) > 0;
}

int exif_orientation(std::span<const std::byte> data) {
  constexpr std::uint32_t kMaxOrientation = 8;
  const TiffReader tiff(data);
  if (!tiff.is_valid()) return kNormalOrientation;
  const std::size_t directory = tiff.first_directory();
  for (std::size_t i = 0; i < tiff.entries(directory); ++i) {
    const std::size_t entry = TiffReader::entry(directory, i);
    const std::uint32_t type = tiff.type_of(entry);
    // The standard requires SHORT, but some programs write LONG, and all readers accept it.
    if (tiff.at(entry, 2) != ExifTag::kOrientation ||
        (type != TiffType::kShort && type != TiffType::kLong))
      continue;
    const std::uint32_t value = tiff.at(entry + 8, type == TiffType::kShort ? 2 : 4);
    return value >= 1 && value <= kMaxOrientation ? int(value) : kNormalOrientation;
  }
  return kNormalOrientation;
}

std::optional<PixelDensity> exif_density(std::span<const std::byte> exif) {
  const TiffReader tiff(exif);
  if (!tiff.is_valid()) return std::nullopt;
  const std::size_t directory = tiff.first_directory();
  const auto unit_entry = tiff.find(directory, ExifTag::kResolutionUnit);
  const std::uint32_t unit = unit_entry ? tiff.integer(*unit_entry) : ResolutionUnit::kInch;
  if (unit < ResolutionUnit::kNone || unit > ResolutionUnit::kCentimeter) return std::nullopt;
  const bool is_ratio = unit == ResolutionUnit::kNone;
  const double scale = is_ratio                        ? 1
                       : unit == ResolutionUnit::kInch ? kInchesPerMeter
                                                       : kCentimetersPerMeter;
  const auto scaled = [&](std::uint32_t tag) -> std::uint32_t {
    const auto entry = tiff.find(directory, tag);
    if (!entry || tiff.type_of(*entry) != TiffType::kRational) return 0;
    const std::size_t value = tiff.value_offset(*entry);
    const double denominator = tiff.at(value + 4, 4);
    if (denominator == 0) return 0;
    const double density = tiff.at(value, 4) / denominator * scale;
    return density < UINT32_MAX ? std::uint32_t(std::lround(density)) : 0;
  };
  const PixelDensity density{scaled(ExifTag::kXResolution), scaled(ExifTag::kYResolution),
                             is_ratio};
  if (density.x == 0 || density.y == 0 || (is_ratio && density.x == density.y)) return std::nullopt;
  return density;
}

void make_exif_upright(std::vector<std::byte>& exif, int rows, int cols) {
  remove_thumbnail(exif);
  set_pixel_dimensions(exif, rows, cols);
  reset_orientation(exif);  // last: entries of damaged data may overlap
}

/// As an attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6</tiff:Orientation>.
void make_xmp_upright(std::vector<std::byte>& xmp) {
  constexpr std::string_view kName = "tiff:Orientation", kBeforeValue = " \t\r\n=\"'>";
  const std::string_view text(reinterpret_cast<const char*>(xmp.data()), xmp.size());
  for (std::size_t at = text.find(kName); at != text.npos; at = text.find(kName, at + 1)) {
    const std::size_t value = text.find_first_not_of(kBeforeValue, at + kName.size());
    if (value != text.npos && text[value] >= '1' && text[value] <= '8') xmp[value] = std::byte('1');
  }
}

}  // namespace eckart::codec
