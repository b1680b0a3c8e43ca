#include "codec/jpeg_frame.hpp"

#include <algorithm>
#include <string>

#include "codec/image_codecs.hpp"
#include "codec/jpeg/marker.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

bool is_progressive(int marker) {
  return marker == JpegMarker::kSof2 || marker == JpegMarker::kSof10;
}
bool is_arithmetic(int marker) {
  return marker == JpegMarker::kSof9 || marker == JpegMarker::kSof10;
}

/// SOF3, 7, 11, 15 are lossless, SOF5 to 7 and 13 to 15 hierarchical, SOF9 to 15 arithmetic-coded.
void check_process(int marker) {
  if (marker <= JpegMarker::kSof2 || marker == JpegMarker::kSof9 || marker == JpegMarker::kSof10)
    return;
  if (marker == JpegMarker::kSof55)
    fail_unsupported("is JPEG-LS; convert it to baseline JPEG or to PNG first");
  const char* kind = (marker - JpegMarker::kSof0) % 4 == 3 ? "a lossless" : "a hierarchical";
  fail_unsupported("is " + std::string(kind) +
                   " JPEG; convert it to baseline JPEG or to PNG first");
}

ImageShape parse_frame_header(const JpegSegment& frame) {
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
  if (std::max(rows, cols) > jpeg::kMaxSide) {
    throw ItemError(FailureReason::too_large, std::to_string(rows) + " x " + std::to_string(cols) +
                                                  " pixels exceed libjpeg's limit of " +
                                                  std::to_string(jpeg::kMaxSide) + " per side");
  }
  return {rows, cols, components, Depth::u8};
}

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
  for (int i = 0; i < shape.channels; ++i) {
    if (max_across % factor(i, 4) != 0 || max_down % factor(i, 0) != 0)
      fail_unsupported(
          "has sampling factors that libjpeg does not decode, because a smaller one "
          "does not divide the largest; convert it to PNG first");
  }
  const auto mcus = [](int side, std::size_t blocks_a_side) {
    return (std::size_t(side) + kJpegBlockSide * blocks_a_side - 1) /
           (kJpegBlockSide * blocks_a_side);
  };
  return mcus(shape.cols, max_across) * mcus(shape.rows, max_down) * blocks * kJpegBlockBytes;
}

}  // namespace

JpegFrame parse_jpeg_frame(const JpegSegment& segment) {
  JpegFrame frame{parse_frame_header(segment), is_progressive(segment.marker),
                  is_arithmetic(segment.marker)};
  constexpr std::size_t kComponents = 6;  // offset
  const auto size = 3 * std::size_t(frame.shape.channels);
  if (segment.data.size() < kComponents + size)
    fail_corrupt("has a frame header that is too short");
  frame.coefficient_bytes = coefficient_bytes(frame.shape, segment.data.subspan(kComponents, size));
  return frame;
}

}  // namespace eckart::codec
