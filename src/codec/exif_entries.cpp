#include "codec/exif_entries.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <string_view>

#include "codec/density_units.hpp"
#include "codec/exif.hpp"
#include "codec/exif_tags.hpp"

namespace eckart::codec {
namespace {

constexpr std::array kKept{ExifTag::kDescription,  ExifTag::kMaker,       ExifTag::kModel,
                           ExifTag::kXResolution,  ExifTag::kYResolution, ExifTag::kResolutionUnit,
                           ExifTag::kSoftware,     ExifTag::kDate,        ExifTag::kArtist,
                           ExifTag::kHostComputer, ExifTag::kRating,      ExifTag::kCopyright};

constexpr std::string_view kStampPrefix = "eckart:";

/// Copies entries of a TIFF structure, up to a number of bytes.
class EntryReader {
 public:
  EntryReader(std::span<const std::byte> data, std::size_t max_bytes)
      : data_(data), tiff_(data), room_(max_bytes) {}

  template <class Predicate>
  std::vector<TiffEntry> read(std::size_t directory, const Predicate& is_kept) {
    std::vector<TiffEntry> entries;
    for (std::size_t i = 0; i < tiff_.entries(directory); ++i) {
      const std::size_t entry = TiffReader::entry(directory, i);
      if (!is_kept(tiff_.at(entry, 2)) || !has_values(tiff_, data_, entry)) continue;
      const std::uint64_t bytes = tiff_.value_bytes(entry) + sizeof(TiffEntry);
      if (bytes > room_) {
        is_complete_ = false;
        return entries;
      }
      room_ -= std::size_t(bytes);
      entries.push_back(read_entry(data_, entry));
    }
    return entries;
  }

  /// Reads all of a directory that an entry of the first one names.
  std::vector<TiffEntry> read_linked(std::uint32_t tag) {
    const auto link = tiff_.find(tiff_.first_directory(), tag);
    if (!link || tiff_.integer(*link) == 0) return {};
    return read(tiff_.integer(*link),
                [](std::uint32_t inner) { return inner != ExifTag::kInteroperability; });
  }

  const TiffReader& tiff() const { return tiff_; }
  bool is_complete() const { return is_complete_; }

 private:
  std::span<const std::byte> data_;
  TiffReader tiff_;
  std::size_t room_;
  bool is_complete_ = true;
};

std::vector<std::byte> little_endian(std::uint32_t value, std::size_t bytes) {
  std::vector<std::byte> values;
  for (std::size_t i = 0; i < bytes; ++i) values.push_back(std::byte(value >> 8 * i & 0xFF));
  return values;
}

TiffEntry short_entry(std::uint32_t tag, std::uint32_t value) {
  return {tag, TiffType::kShort, 1, little_endian(value, 2)};
}

TiffEntry long_entry(std::uint32_t tag, std::uint32_t value) {
  return {tag, TiffType::kLong, 1, little_endian(value, 4)};
}

TiffEntry rational_entry(std::uint32_t tag, std::uint32_t numerator, std::uint32_t denominator) {
  TiffEntry entry{tag, TiffType::kRational, 1, little_endian(numerator, 4)};
  const std::vector<std::byte> rest = little_endian(denominator, 4);
  entry.values.insert(entry.values.end(), rest.begin(), rest.end());
  return entry;
}

TiffEntry text_entry(std::uint32_t tag, const std::string& text) {
  TiffEntry entry{tag, TiffType::kAscii, std::uint32_t(text.size() + 1)};
  const auto bytes = std::as_bytes(std::span(text.c_str(), text.size() + 1));
  entry.values.assign(bytes.begin(), bytes.end());
  return entry;
}

/// A density that is no whole number per inch is one per meter, and so exact per centimeter.
std::vector<TiffEntry> density_entries(const PixelDensity& density) {
  std::uint32_t unit = ResolutionUnit::kCentimeter, denominator = 100;
  PixelDensity numerator = density;
  if (density.is_ratio) {
    unit = ResolutionUnit::kNone;
    denominator = 1;
  } else if (is_whole_number(density, kInchesPerMeter)) {
    unit = ResolutionUnit::kInch;
    denominator = 1;
    numerator.x = std::uint32_t(std::lround(density.x / kInchesPerMeter));
    numerator.y = std::uint32_t(std::lround(density.y / kInchesPerMeter));
  }
  return {rational_entry(ExifTag::kXResolution, numerator.x, denominator),
          rational_entry(ExifTag::kYResolution, numerator.y, denominator),
          short_entry(ExifTag::kResolutionUnit, unit)};
}

std::string description_of(std::span<const std::byte> exif) {
  const TiffReader tiff(exif);
  if (!tiff.is_valid()) return {};
  const auto entry = tiff.find(tiff.first_directory(), ExifTag::kDescription);
  if (!entry || tiff.type_of(*entry) != TiffType::kAscii || !has_values(tiff, exif, *entry))
    return {};
  const TiffEntry description = read_entry(exif, *entry);
  const std::string text(reinterpret_cast<const char*>(description.values.data()),
                         description.values.size());
  return text.substr(0, text.find('\0'));
}

/// Whether a program wrote how the pixels are stored, for itself: tifffile (JSON), ImageJ, or
/// OME-TIFF. Readers take it for a description of this file.
bool describes_storage(std::string_view description) {
  return description.starts_with('{') || description.starts_with("ImageJ=") ||
         description.starts_with("<?xml") || description.starts_with("<OME");
}

}  // namespace

std::optional<ExifEntries> read_exif_entries(std::span<const std::byte> tiff,
                                             std::size_t max_bytes) {
  EntryReader reader(tiff, max_bytes);
  if (!reader.tiff().is_valid()) return ExifEntries{};
  ExifEntries entries;
  entries.first = reader.read(reader.tiff().first_directory(), [](std::uint32_t tag) {
    return std::ranges::find(kKept, tag) != kKept.end();
  });
  entries.exif = reader.read_linked(ExifTag::kExifDirectory);
  entries.gps = reader.read_linked(ExifTag::kGpsDirectory);
  return reader.is_complete() ? std::optional(std::move(entries)) : std::nullopt;
}

void write_exif_entries(const ExifEntries& entries, std::vector<std::byte>& tiff) {
  if (entries.empty()) return;
  TiffDirectoryWriter writer(tiff);
  std::vector<TiffEntry> first = entries.first;
  if (!entries.exif.empty())
    first.push_back(long_entry(ExifTag::kExifDirectory, writer.append(entries.exif)));
  if (!entries.gps.empty())
    first.push_back(long_entry(ExifTag::kGpsDirectory, writer.append(entries.gps)));
  writer.set(first);
}

std::vector<std::byte> described_exif(const PictureView& picture) {
  std::vector<std::byte> exif;
  ExifEntries added;
  if (const Metadata* metadata = picture.metadata) {
    if (is_exif(metadata->exif)) exif = metadata->exif;
    if (metadata->density && exif_density(exif) != metadata->density)
      added.first = density_entries(*metadata->density);
  }
  std::string description = description_of(exif);
  for (const TextEntry& entry : picture.texts) {
    if (entry.keyword == "Software") {
      added.first.push_back(text_entry(ExifTag::kSoftware, entry.text));
    } else {
      description += (description.empty() ? "" : "\n") + entry.keyword + ": " + entry.text;
    }
  }
  if (!picture.texts.empty()) added.first.push_back(text_entry(ExifTag::kDescription, description));
  write_exif_entries(added, exif);
  return exif;
}

void remove_description(std::vector<std::byte>& exif) {
  const std::string description = description_of(exif);
  std::string rest;
  for (std::size_t begin = 0; begin < description.size() && !describes_storage(description);) {
    const std::size_t end = std::min(description.find('\n', begin), description.size());
    const std::string line = description.substr(begin, end - begin);
    begin = end + 1;
    if (!line.starts_with(kStampPrefix)) rest += (rest.empty() ? "" : "\n") + line;
  }
  if (rest != description)
    write_exif_entries({.first = {text_entry(ExifTag::kDescription, rest)}}, exif);
}

}  // namespace eckart::codec
