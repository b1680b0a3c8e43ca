// JPEG: reads the header and checks that the file is complete. ITU-T T.81, annex B.
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/deadline.hpp"
#include "codec/exif.hpp"
#include "codec/image_codecs.hpp"
#include "codec/jpeg/marker.hpp"
#include "codec/jpeg_encoder.hpp"
#include "codec/jpeg_frame.hpp"
#include "codec/jpeg_metadata.hpp"
#include "codec/jpeg_segments.hpp"
#include "codec/libjpeg_decoder.hpp"
#include "codec/metadata_collector.hpp"
#include "codec/opencv_decoder.hpp"
#include "codec/orientation.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

bool sniff(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte(0xFF) && file[1] == std::byte(JpegMarker::kSoi) &&
         file[2] == std::byte(0xFF);
}

/// Returns whether libjpeg buffers the coefficients of the whole image.
bool buffers_coefficients(const JpegFrame& frame, std::span<const std::byte> scan) {
  return frame.progressive || scan.empty() || int(scan[0]) < frame.shape.channels;
}

/// Returns the EXIF orientation in an APP1 segment, if it has one.
std::optional<int> orientation_in(const JpegSegment& segment) {
  const std::string_view text{reinterpret_cast<const char*>(segment.data.data()),
                              segment.data.size()};
  if (segment.marker != JpegMarker::kApp1 || !text.starts_with(kExifPrefix)) return std::nullopt;
  return exif_orientation(segment.data.subspan(kExifPrefix.size()));
}

/// The information that precedes the first scan.
struct ScanStart {
  Header header;
  JpegFrame frame;
  int orientation = kNormalOrientation;
};

ScanStart read_to_first_scan(FileBytes file) {
  if (!sniff(file.at(0, 3))) fail_corrupt("has no start-of-image marker");
  JpegSegments segments(std::move(file));
  std::optional<JpegFrame> frame;
  std::optional<int> orientation;
  std::size_t metadata = 0;
  for (;;) {
    const JpegSegment segment = segments.next();
    metadata += max_metadata_bytes(segment);
    if (segment.marker == JpegMarker::kEoi)
      fail_corrupt(frame ? "has no scan" : "has no frame header");
    if (!orientation) orientation = orientation_in(segment);
    if (!frame && is_jpeg_frame_header(segment.marker)) frame = parse_jpeg_frame(segment);
    if (segment.marker != JpegMarker::kSos) continue;
    if (!frame) fail_corrupt("has no frame header");
    const std::size_t pixels = frame->shape.bytes();
    const std::size_t kept =
        buffers_coefficients(*frame, segment.data) ? frame->coefficient_bytes : 0;
    const std::size_t copy =
        orientation.value_or(kNormalOrientation) == kNormalOrientation ? 0 : pixels;
    const std::size_t bytes = pixels + std::max(kept, copy);
    return {{frame->shape, bytes, bytes, /*may_have_alpha=*/false, metadata},
            *frame,
            orientation.value_or(kNormalOrientation)};
  }
}

Header read_header(FileBytes file) { return read_to_first_scan(std::move(file)).header; }

/// Checks that the scans contain every component of the frame header. libjpeg decodes a missing
/// component as gray. Invalid segments are ignored here, because the decoder rejects them.
class ComponentTracker {
 public:
  void take(const JpegSegment& segment) {
    if (is_jpeg_frame_header(segment.marker)) declare(segment.data);
    if (segment.marker == JpegMarker::kSos) bring(segment.data);
  }

  bool has_all() const { return (declared_ & ~present_).none(); }

 private:
  using Ids = std::bitset<256>;

  static std::size_t at(std::span<const std::byte> data, std::size_t i) {
    return i < data.size() ? std::size_t(data[i]) : 0;
  }

  void declare(std::span<const std::byte> frame) {
    const std::size_t count = std::min(at(frame, 5), frame.size() / 3);
    for (std::size_t i = 0; i < count; ++i) declared_.set(at(frame, 6 + 3 * i));
  }

  /// The DC coefficients are required; a progressive file may omit others.
  void bring(std::span<const std::byte> scan) {
    const std::size_t count = std::min(at(scan, 0), scan.size() / 2);
    const std::size_t first_coefficient = at(scan, 1 + 2 * count);
    if (first_coefficient > 0) return;
    for (std::size_t i = 0; i < count; ++i) present_.set(at(scan, 1 + 2 * i));
  }

  Ids declared_, present_;
};

/// The decoder would also detect a missing end, but its message is less clear.
void check_complete(std::span<const std::byte> file) {
  JpegSegments segments(file);
  ComponentTracker components;
  for (JpegSegment segment = segments.next(); segment.marker != JpegMarker::kEoi;
       segment = segments.next())
    components.take(segment);
  if (!components.has_all()) fail_corrupt("ends without the data of all its components");
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const auto [header, frame, orientation] = read_to_first_scan(file);
  check_complete(file);
  check_decode_memory(file.size() + header.max_decode_bytes, limits);
  return {apply_orientation(decode_with_libjpeg(file, header.shape, limits, deadline), orientation),
          {},
          {}};
}

/// Includes the memory of a copy of the pixels, because OpenCV does not decode into the image.
/// OpenCV keeps APP1 segments and may need a copy of the file: see with_end_marker().
Header read_header_for_opencv(FileBytes file) {
  const std::size_t copies = 2 * file.size();
  const Header strict = read_header(std::move(file));
  const std::size_t pixels = strict.shape.bytes();
  const std::size_t bytes = copies + std::max(strict.max_decode_bytes, 2 * pixels);
  return {strict.shape, bytes, bytes, /*may_have_alpha=*/false, strict.max_metadata_bytes};
}

/// Returns the maximum number of scans that libjpeg can find.
std::size_t count_scans(std::span<const std::byte> file) {
  JpegSegments segments(file, /*lenient=*/true);
  std::size_t scans = 0;
  try {
    for (JpegSegment segment = segments.next(); segment.marker != JpegMarker::kEoi;
         segment = segments.next())
      scans += segment.marker == JpegMarker::kSos;
  } catch (const ItemError&) {  // end of the file: libjpeg stops here too
  }
  return scans;
}

/// cv::imdecode cannot be interrupted, and hundreds of scans of a few bytes could take hours.
/// Throws ItemError(too_large) if decoding could exceed limits.decode_s.
void check_decode_time(std::span<const std::byte> file, const JpegFrame& frame,
                       const ImageLimits& limits) {
  // Measured (Huffman, arithmetic): up to 34 and 580 ns per block and scan, 31 and 104 ns per byte.
  const double block_s = frame.arithmetic ? 1e-6 : 1e-7;
  const double byte_s = frame.arithmetic ? 150e-9 : 40e-9;
  const std::size_t blocks = frame.coefficient_bytes / kJpegBlockBytes;
  const double seconds =
      block_s * double(blocks) * double(count_scans(file)) + byte_s * double(file.size());
  if (seconds <= double(limits.decode_s)) return;
  throw ItemError(
      FailureReason::too_large,
      "decoding with OpenCV may need " + std::to_string(std::llround(seconds)) +
          " CPU seconds, which exceeds limits.decode_s = " + std::to_string(limits.decode_s));
}

/// Returns the file, or `copy` with the file and an end marker. If data end early without an end
/// marker, OpenCV would return uninitialized rows; with it, libjpeg makes them gray.
std::span<const std::byte> with_end_marker(std::span<const std::byte> file,
                                           std::vector<std::byte>& copy) {
  constexpr std::array kEnd{std::byte(0xFF), std::byte(JpegMarker::kEoi)};
  if (std::ranges::equal(file.last(kEnd.size()), kEnd)) return file;
  copy.resize(file.size() + kEnd.size());
  std::ranges::copy(kEnd, std::ranges::copy(file, copy.begin()).out);
  return copy;
}

Picture decode_by_opencv(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  check_decode_memory(file.size() + read_header_for_opencv(file).max_decode_bytes, limits);
  const auto [header, frame, orientation] = read_to_first_scan(file);
  check_decode_time(file, frame, limits);
  std::vector<std::byte> copy;
  return apply_orientation(decode_with_opencv(with_end_marker(file, copy), header.shape, deadline),
                           orientation);
}

void check_encodable(const ImageShape& shape, bool has_alpha) {
  if (has_alpha) fail_without_alpha("JPEG");
  check_depth("JPEG", shape.depth, Depth::u8);
  if (std::max(shape.rows, shape.cols) > jpeg::kMaxSide) {
    throw ItemError(FailureReason::not_encodable, "JPEG allows at most " +
                                                      std::to_string(jpeg::kMaxSide) +
                                                      " pixels per side; use output.format=png");
  }
}

/// Decodes with `decode_pixels`, and adds the metadata.
template <auto decode_pixels>
Picture decode_all(std::span<const std::byte> file, const ImageLimits& limits) {
  Picture picture = decode_pixels(file, limits);
  picture.metadata = read_jpeg_metadata(file, metadata_room(file.size(), picture, limits));
  return picture;
}

/// A turned image is decoded here, because its pixels are moved.
std::optional<UndecodedPicture> read_undecoded(std::span<const std::byte> file,
                                               const ImageLimits& limits) {
  std::optional<jpeg::EncodedImage> encoded = jpeg::read_encoded_image(file);
  if (!encoded) return std::nullopt;
  const auto [header, frame, orientation] = read_to_first_scan(file);
  if (orientation != kNormalOrientation || header.shape != encoded->header.shape())
    return std::nullopt;
  Picture picture{Image(header.shape), {}, {}};
  picture.metadata = read_jpeg_metadata(file, metadata_room(file.size(), picture, limits));
  return UndecodedPicture{std::move(picture), std::move(*encoded)};
}

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions& options) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  return encode_jpeg(picture, options);
}

HeadAndTail encode_head_and_tail(const PictureView& picture, const EncodeOptions& options) {
  check_encodable(picture.pixels.shape(), picture.has_alpha());
  return encode_jpeg_head_and_tail(picture, options);
}

}  // namespace

Codec jpeg_codec(Decoder decoder) {
  const bool strict = decoder == Decoder::strict;
  return {ImageFormat::jpeg,
          "jpg",
          sniff,
          strict ? read_header : read_header_for_opencv,
          strict ? decode_all<decode> : decode_all<decode_by_opencv>,
          check_encodable,
          encode,
          {.icc = kMaxJpegIccBytes,
           .exif = kMaxJpegSegmentBytes - kExifPrefix.size(),
           .xmp = kMaxJpegSegmentBytes - kJpegXmpPrefix.size(),
           .has_png_color = false},
          strict ? read_undecoded : nullptr,
          encode_head_and_tail};
}

}  // namespace eckart::codec
