#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "codec/jpeg_segments.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The first bytes of segments with XMP.
inline constexpr std::string_view kJpegXmpPrefix("http://ns.adobe.com/xap/1.0/\0", 29);
inline constexpr std::size_t kMaxJpegSegmentBytes = 65533;  ///< of data
/// A profile has up to 255 segments with a prefix of 14 bytes.
inline constexpr std::size_t kMaxJpegIccBytes = 255 * (kMaxJpegSegmentBytes - 14);

/// Returns a maximum of the memory of metadata in this segment.
std::size_t max_metadata_bytes(const JpegSegment& segment);

/// Reads the metadata before the first scan, whether the decoder accepts the rest of the file or
/// not: ICC profile (APP2; ICC.1:2022, B.4), EXIF and XMP (APP1), density (JFIF, or else EXIF), and
/// subsampling. The first EXIF and XMP segments count. Extended XMP is dropped. `max_bytes` limits
/// the memory; see MetadataCollector.
Metadata read_jpeg_metadata(std::span<const std::byte> file, std::size_t max_bytes);

}  // namespace eckart::codec
