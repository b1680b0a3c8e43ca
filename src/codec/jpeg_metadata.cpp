#include "codec/jpeg_metadata.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "codec/density_units.hpp"
#include "codec/exif.hpp"
#include "codec/icc_profile.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/orientation.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::string_view kJfifPrefix("JFIF\0", 5);
constexpr std::string_view kIccPrefix("ICC_PROFILE\0", 12);
constexpr std::string_view kExtendedXmpPrefix("http://ns.adobe.com/xmp/extension/\0", 35);

/// Returns the data of a segment after a prefix; nullopt if it has another.
std::optional<Bytes> after_prefix(const JpegSegment& segment, std::string_view prefix) {
  const std::string_view text(reinterpret_cast<const char*>(segment.data.data()),
                              segment.data.size());
  if (!text.starts_with(prefix)) return std::nullopt;
  return segment.data.subspan(prefix.size());
}

/// The parts of a profile, each with its number, from 1, and the number of parts.
class IccParts {
 public:
  void take(Bytes data) {
    is_found_ = true;
    if (data.size() < 2) return;
    const auto number = std::size_t(data[0]), count = std::size_t(data[1]);
    if (parts_.empty()) parts_.resize(count);
    if (number < 1 || number > parts_.size() || count != parts_.size()) return;
    std::vector<std::byte>& part = parts_[number - 1];
    if (part.empty()) part.assign(data.begin() + 2, data.end());
  }

  void finish(MetadataCollector& found) const {
    if (!is_found_) return;
    std::vector<std::byte> profile;
    bool is_complete = true;
    for (const std::vector<std::byte>& part : parts_) {
      is_complete &= !part.empty();
      profile.insert(profile.end(), part.begin(), part.end());
    }
    if (!is_complete || !is_icc_profile(profile)) return found.drop("ICC profile", "damaged");
    found.set(&Metadata::icc, "ICC profile", profile);
  }

 private:
  bool is_found_ = false;
  std::vector<std::vector<std::byte>> parts_;
};

std::optional<PixelDensity> jfif_density(Bytes data) {
  constexpr int kRatio = 0, kInch = 1, kCentimeter = 2;
  if (data.size() < 7) return std::nullopt;
  const int unit = int(data[2]);
  const auto number = [&](std::size_t at) {
    return std::uint32_t(data[at]) << 8 | std::uint32_t(data[at + 1]);
  };
  const std::uint32_t x = number(3), y = number(5);
  if (x == 0 || y == 0 || unit > kCentimeter) return std::nullopt;
  if (unit == kRatio) return x == y ? std::nullopt : std::optional(PixelDensity{x, y, true});
  const double scale = unit == kInch ? kInchesPerMeter : kCentimetersPerMeter;
  return PixelDensity{std::uint32_t(std::lround(x * scale)), std::uint32_t(std::lround(y * scale))};
}

/// Returns how much finer the first component is sampled than the others, if the frame has three.
std::optional<ChromaSubsampling> subsampling_of(Bytes frame) {
  constexpr std::size_t kFactors = 7,
                        kStride = 3;  // offset in the frame header; bytes per component
  if (frame.size() < 6 + 3 * kStride || frame[5] != std::byte(3)) return std::nullopt;
  const auto factors = [&](std::size_t component) {
    const int both = int(frame[kFactors + component * kStride]);
    return ChromaSubsampling{both >> 4, both & 15};
  };
  const ChromaSubsampling luma = factors(0), chroma = factors(1);
  if (chroma != factors(2) || chroma.cols == 0 || chroma.rows == 0 ||
      luma.cols % chroma.cols != 0 || luma.rows % chroma.rows != 0)
    return std::nullopt;
  return ChromaSubsampling{luma.cols / chroma.cols, luma.rows / chroma.rows};
}

class JpegMetadataReader {
 public:
  explicit JpegMetadataReader(std::size_t max_bytes) : found_(max_bytes) {}

  void take(const JpegSegment& segment) {
    if (segment.marker == JpegMarker::kApp0) {
      if (const auto data = after_prefix(segment, kJfifPrefix); data && !metadata().density)
        metadata().density = jfif_density(*data);
    } else if (segment.marker == JpegMarker::kApp1) {
      take_app1(segment);
    } else if (segment.marker == JpegMarker::kApp2) {
      if (const auto data = after_prefix(segment, kIccPrefix)) profile_.take(*data);
    } else if (is_jpeg_frame_header(segment.marker) && !metadata().subsampling) {
      metadata().subsampling = subsampling_of(segment.data);
    }
  }

  Metadata finish() {
    profile_.finish(found_);
    if (!metadata().density) metadata().density = exif_density(metadata().exif);
    if (exif_orientation(metadata().exif) > kLastUntransposedOrientation) {
      if (metadata().density) std::swap(metadata().density->x, metadata().density->y);
      if (metadata().subsampling)
        std::swap(metadata().subsampling->cols, metadata().subsampling->rows);
    }
    return std::move(metadata());
  }

 private:
  Metadata& metadata() { return found_.metadata(); }

  void take_app1(const JpegSegment& segment) {
    if (const auto exif = after_prefix(segment, kExifPrefix)) {
      if (std::exchange(has_exif_, true)) return;
      if (!is_exif(*exif)) return found_.drop("EXIF", "damaged");
      found_.set(&Metadata::exif, "EXIF", *exif);
    } else if (const auto xmp = after_prefix(segment, kJpegXmpPrefix)) {
      if (!std::exchange(has_xmp_, true)) found_.set(&Metadata::xmp, "XMP", *xmp);
    } else if (after_prefix(segment, kExtendedXmpPrefix)) {
      if (!std::exchange(has_extended_xmp_, true))
        found_.drop("extended XMP", "only the standard packet is kept");
    }
  }

  MetadataCollector found_;
  IccParts profile_;
  bool has_exif_ = false, has_xmp_ = false, has_extended_xmp_ = false;
};

}  // namespace

std::size_t max_metadata_bytes(const JpegSegment& segment) {
  if (segment.marker == JpegMarker::kApp1) return segment.data.size();
  // A profile is in memory twice while its parts are joined.
  return segment.marker == JpegMarker::kApp2 ? 2 * segment.data.size() : 0;
}

Metadata read_jpeg_metadata(std::span<const std::byte> file, std::size_t max_bytes) {
  JpegMetadataReader reader(max_bytes);
  JpegSegments segments(file, /*lenient=*/true);
  try {
    for (JpegSegment segment = segments.next();
         segment.marker != JpegMarker::kSos && segment.marker != JpegMarker::kEoi;
         segment = segments.next())
      reader.take(segment);
  } catch (const ItemError&) {  // the file ends before the first scan, or is damaged
  }
  return reader.finish();
}

}  // namespace eckart::codec
