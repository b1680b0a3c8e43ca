// JPEG: reads the frame header and checks that the file is complete. ITU-T T.81, annex B.
#include <algorithm>
#include <array>
#include <bitset>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "io/deadline.hpp"
#include "io/image_codecs.hpp"
#include "io/libjpeg_decoder.hpp"
#include "io/opencv_codec.hpp"
#include "io/opencv_decoder.hpp"
#include "io/orientation.hpp"

namespace eckart::io {
namespace {

enum Marker : int {
  kTem = 0x01,
  kSof0 = 0xC0,
  kSof2 = 0xC2,
  kSof9 = 0xC9,
  kSof10 = 0xCA,
  kDht = 0xC4,
  kJpg = 0xC8,
  kDac = 0xCC,
  kSof15 = 0xCF,
  kRst0 = 0xD0,
  kRst7 = 0xD7,
  kSoi = 0xD8,
  kEoi = 0xD9,
  kSos = 0xDA,
  kApp1 = 0xE1,
  kSof55 = 0xF7,  // of JPEG-LS, ITU-T T.87
};
constexpr int kMaxSide = 65500;  // limit of libjpeg; the format allows 65535

struct Segment {
  int marker;
  std::span<const std::byte> data;
};

bool is_restart(int marker) { return marker >= kRst0 && marker <= kRst7; }
bool has_data(int marker) { return marker != kTem && marker != kSoi && marker != kEoi; }

bool is_frame_header(int marker) {
  return (marker >= kSof0 && marker <= kSof15 && marker != kDht && marker != kJpg &&
          marker != kDac) ||
         marker == kSof55;
}

/// The marker segments of a file, in order. Skips entropy-coded data with its restart markers, and
/// stray bytes; the decoder checks both.
class Segments {
 public:
  /// `lenient`: accepts a segment size below 2, the bytes of the size itself, as libjpeg does.
  explicit Segments(FileBytes file, bool lenient = false)
      : file_(std::move(file)), lenient_(lenient) {}

  /// The data of the segment is valid until the next call.
  Segment next() {
    const int marker = skip_to_marker();
    in_scans_ |= marker == kSos;
    if (!has_data(marker)) return {marker, {}};
    const std::span<const std::byte> head = file_.at(offset_, 2);
    if (head.size() < 2) fail_truncated();
    std::size_t size = std::size_t(head[0]) << 8 | std::size_t(head[1]);
    if (size < 2 && !lenient_) fail_corrupt("has a segment with an invalid size");
    size = std::max<std::size_t>(size, 2);
    const std::span<const std::byte> whole = file_.at(offset_, size);
    if (whole.size() < size) fail_truncated();
    offset_ += size;
    return {marker, whole.subspan(2, size - 2)};
  }

 private:
  [[noreturn]] static void fail_truncated() { fail_corrupt("truncated: no end-of-image marker"); }

  /// Skips all bytes up to and including the first for which `matches` returns true; returns that
  /// byte.
  template <class Predicate>
  std::byte skip_past(const Predicate& matches) {
    for (;;) {
      const std::span<const std::byte> bytes = file_.at(offset_, 1);
      if (bytes.empty()) fail_truncated();
      const auto found = std::find_if(bytes.begin(), bytes.end(), matches);
      const auto skipped = std::size_t(found - bytes.begin());
      if (!in_scans_ && (stray_ += skipped) > kMaxStray)
        fail_corrupt("has more than 32 MiB of stray bytes before its pixels");
      offset_ += skipped;
      if (found == bytes.end()) continue;
      ++offset_;
      return *found;
    }
  }

  int skip_to_marker() {
    for (;;) {
      skip_past([](std::byte b) { return b == std::byte(0xFF); });
      const std::byte code = skip_past([](std::byte b) { return b != std::byte(0xFF); });
      if (code != std::byte(0) && !is_restart(int(code))) return int(code);
    }
  }

  static constexpr std::size_t kMaxStray = FileBytes::kMaxRead / 2;

  FileBytes file_;
  bool lenient_;
  std::size_t offset_ = 2;
  std::size_t stray_ = 0;  // bytes before the first scan
  bool in_scans_ = false;
};

bool sniff(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte(0xFF) && file[1] == std::byte(kSoi) &&
         file[2] == std::byte(0xFF);
}

bool is_progressive(int marker) { return marker == kSof2 || marker == kSof10; }
bool is_arithmetic(int marker) { return marker == kSof9 || marker == kSof10; }

/// SOF3, 7, 11, 15 are lossless, SOF5 to 7 and 13 to 15 hierarchical, SOF9 to 15 arithmetic-coded.
void check_process(int marker) {
  if (marker <= kSof2 || marker == kSof9 || marker == kSof10) return;
  if (marker == kSof55) fail_unsupported("is JPEG-LS; convert it to baseline JPEG or to PNG first");
  const char* kind = (marker - kSof0) % 4 == 3 ? "a lossless" : "a hierarchical";
  fail_unsupported("is " + std::string(kind) +
                   " JPEG; convert it to baseline JPEG or to PNG first");
}

ImageShape parse_frame_header(const Segment& frame) {
  check_process(frame.marker);
  if (frame.data.size() < 6) fail_corrupt("has a frame header that is too short");
  const auto at = [&](std::size_t i) { return int(frame.data[i]); };
  const int bits = at(0);
  const int rows = at(1) << 8 | at(2);
  const int cols = at(3) << 8 | at(4);
  const int components = at(5);
  if (bits != 8) {
    fail_unsupported("has " + std::to_string(bits) +
                     " bits per sample; convert it to 8 bits or to PNG first");
  }
  if (components == 4)
    fail_unsupported("has four components (CMYK or YCCK); convert it to RGB first");
  if (components != 1 && components != 3) {
    fail_unsupported("has " + std::to_string(components) +
                     " components; convert it to gray or RGB first");
  }
  if (rows == 0) fail_unsupported("has no height in its header; re-save it first");
  if (cols == 0) fail_corrupt("declares an invalid image size");
  if (std::max(rows, cols) > kMaxSide) {
    throw ItemError(FailureReason::too_large, std::to_string(rows) + " x " + std::to_string(cols) +
                                                  " pixels exceed libjpeg's limit of " +
                                                  std::to_string(kMaxSide) + " per side");
  }
  return {rows, cols, components, Depth::u8};
}

/// The storage of coefficients according to the frame header.
struct Frame {
  ImageShape shape;
  bool progressive = false;
  bool arithmetic = false;
  std::size_t coefficient_bytes = 0;  ///< all coefficients
};

constexpr std::size_t kBlockSide = 8, kBlockBytes = 2 * kBlockSide * kBlockSide;

/// Returns the size of all coefficients: two bytes each, in whole blocks of 8 x 8 and whole MCUs.
std::size_t coefficient_bytes(const ImageShape& shape, std::span<const std::byte> components) {
  const auto factor = [&](int component, int shift) {
    const auto value = std::size_t(components[3 * std::size_t(component) + 1]) >> shift & 0xF;
    if (value < 1 || value > 4) fail_corrupt("has invalid sampling factors");
    return value;
  };
  std::size_t max_across = 1, max_down = 1, blocks = 0;
  for (int i = 0; i < shape.channels; ++i) {
    max_across = std::max(max_across, factor(i, 4));
    max_down = std::max(max_down, factor(i, 0));
    blocks += factor(i, 4) * factor(i, 0);
  }
  const auto mcus = [](int side, std::size_t blocks_a_side) {
    return (std::size_t(side) + kBlockSide * blocks_a_side - 1) / (kBlockSide * blocks_a_side);
  };
  return mcus(shape.cols, max_across) * mcus(shape.rows, max_down) * blocks * kBlockBytes;
}

Frame parse_frame(const Segment& segment) {
  Frame frame{parse_frame_header(segment), is_progressive(segment.marker),
              is_arithmetic(segment.marker)};
  constexpr std::size_t kComponents = 6;  // offset
  const auto size = 3 * std::size_t(frame.shape.channels);
  if (segment.data.size() < kComponents + size)
    fail_corrupt("has a frame header that is too short");
  frame.coefficient_bytes = coefficient_bytes(frame.shape, segment.data.subspan(kComponents, size));
  return frame;
}

/// Returns whether libjpeg buffers the coefficients of the whole image.
bool buffers_coefficients(const Frame& frame, std::span<const std::byte> scan) {
  return frame.progressive || scan.empty() || int(scan[0]) < frame.shape.channels;
}

/// Returns the EXIF orientation in an APP1 segment, if it has one.
std::optional<int> orientation_in(const Segment& segment) {
  constexpr std::string_view kExif("Exif\0\0", 6);
  const std::string_view text{reinterpret_cast<const char*>(segment.data.data()),
                              segment.data.size()};
  if (segment.marker != kApp1 || !text.starts_with(kExif)) return std::nullopt;
  return exif_orientation(segment.data.subspan(kExif.size()));
}

/// The information that precedes the first scan.
struct ScanStart {
  Header header;
  Frame frame;
  int orientation = kNormalOrientation;
};

ScanStart read_to_first_scan(FileBytes file) {
  if (!sniff(file.at(0, 3))) fail_corrupt("has no start-of-image marker");
  Segments segments(std::move(file));
  std::optional<Frame> frame;
  std::optional<int> orientation;
  for (;;) {
    const Segment segment = segments.next();
    if (segment.marker == kEoi) fail_corrupt(frame ? "has no scan" : "has no frame header");
    if (!orientation) orientation = orientation_in(segment);
    if (!frame && is_frame_header(segment.marker)) frame = parse_frame(segment);
    if (segment.marker != kSos) continue;
    if (!frame) fail_corrupt("has no frame header");
    const std::size_t pixels = frame->shape.bytes();
    const std::size_t kept =
        buffers_coefficients(*frame, segment.data) ? frame->coefficient_bytes : 0;
    const std::size_t copy =
        orientation.value_or(kNormalOrientation) == kNormalOrientation ? 0 : pixels;
    const std::size_t bytes = pixels + std::max(kept, copy);
    return {{frame->shape, bytes, bytes}, *frame, orientation.value_or(kNormalOrientation)};
  }
}

Header read_header(FileBytes file) { return read_to_first_scan(std::move(file)).header; }

/// Checks that the scans contain every component of the frame header. libjpeg decodes a missing
/// component as gray. Invalid segments are ignored here, because the decoder rejects them.
class ComponentTracker {
 public:
  void take(const Segment& segment) {
    if (is_frame_header(segment.marker)) declare(segment.data);
    if (segment.marker == kSos) bring(segment.data);
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
  Segments segments(file);
  ComponentTracker components;
  for (Segment segment = segments.next(); segment.marker != kEoi; segment = segments.next())
    components.take(segment);
  if (!components.has_all()) fail_corrupt("ends without the data of all its components");
}

Image decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const auto [header, frame, orientation] = read_to_first_scan(file);
  check_complete(file);
  check_decode_memory(file.size() + header.max_decode_bytes, limits);
  return apply_orientation(decode_with_libjpeg(file, header.shape, limits, deadline), orientation);
}

/// Includes the memory of a copy of the pixels, because OpenCV does not decode into the image.
/// OpenCV keeps APP1 segments and may need a copy of the file: see with_end_marker().
Header read_header_for_opencv(FileBytes file) {
  const std::size_t copies = 2 * file.size();
  const Header strict = read_header(std::move(file));
  const std::size_t pixels = strict.shape.bytes();
  const std::size_t bytes = copies + std::max(strict.max_decode_bytes, 2 * pixels);
  return {strict.shape, bytes, bytes};
}

/// Returns the maximum number of scans that libjpeg can find.
std::size_t count_scans(std::span<const std::byte> file) {
  Segments segments(file, /*lenient=*/true);
  std::size_t scans = 0;
  try {
    for (Segment segment = segments.next(); segment.marker != kEoi; segment = segments.next())
      scans += segment.marker == kSos;
  } catch (const ItemError&) {  // end of the file: libjpeg stops here too
  }
  return scans;
}

/// cv::imdecode cannot be interrupted, and hundreds of scans of a few bytes could take hours.
/// Throws ItemError(too_large) if decoding could exceed limits.decode_s.
void check_decode_time(std::span<const std::byte> file, const Frame& frame,
                       const ImageLimits& limits) {
  // Measured (Huffman, arithmetic): up to 34 and 580 ns per block and scan, 31 and 104 ns per byte.
  const double block_s = frame.arithmetic ? 1e-6 : 1e-7;
  const double byte_s = frame.arithmetic ? 150e-9 : 40e-9;
  const std::size_t blocks = frame.coefficient_bytes / kBlockBytes;
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
  constexpr std::array kEnd{std::byte(0xFF), std::byte(kEoi)};
  if (std::ranges::equal(file.last(kEnd.size()), kEnd)) return file;
  copy.resize(file.size() + kEnd.size());
  std::ranges::copy(kEnd, std::ranges::copy(file, copy.begin()).out);
  return copy;
}

Image decode_by_opencv(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  check_decode_memory(file.size() + read_header_for_opencv(file).max_decode_bytes, limits);
  const auto [header, frame, orientation] = read_to_first_scan(file);
  check_decode_time(file, frame, limits);
  std::vector<std::byte> copy;
  Image image = decode_with_opencv(with_end_marker(file, copy), header.shape, deadline);
  return apply_orientation(std::move(image), orientation);
}

void check_encodable(const ImageShape& shape) {
  if (shape.depth != Depth::u8) {
    throw ItemError(FailureReason::not_encodable,
                    "JPEG does not support 16-bit samples; use output.format=png");
  }
  if (std::max(shape.rows, shape.cols) > kMaxSide) {
    throw ItemError(FailureReason::not_encodable, "JPEG allows at most " +
                                                      std::to_string(kMaxSide) +
                                                      " pixels per side; use output.format=png");
  }
}

std::vector<std::byte> encode(const Image& image, const EncodeOptions& options) {
  check_encodable(image.shape());
  return encode_jpeg_with_opencv(image, options.jpeg_quality);
}

}  // namespace

Codec jpeg_codec(Decoder decoder) {
  const bool strict = decoder == Decoder::strict;
  return {ImageFormat::jpeg,
          "jpg",
          sniff,
          strict ? read_header : read_header_for_opencv,
          strict ? decode : decode_by_opencv,
          check_encodable,
          encode};
}

}  // namespace eckart::io
