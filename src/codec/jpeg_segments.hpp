#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "codec/file_bytes.hpp"

namespace eckart::codec {

/// Codes of markers. ITU-T T.81, table B.1.
struct JpegMarker {
  enum : int {
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
    kApp0 = 0xE0,
    kApp1 = 0xE1,
    kApp2 = 0xE2,
    kSof55 = 0xF7,  // of JPEG-LS, ITU-T T.87
  };
};

/// A marker and the data after it, if it has any.
struct JpegSegment {
  int marker;
  std::span<const std::byte> data;
};

/// Whether the marker is a SOF marker, of any coding process.
bool is_jpeg_frame_header(int marker);

/// The marker segments of a file, in order. Skips entropy-coded data with its restart markers, and
/// stray bytes; the decoder checks both.
class JpegSegments {
 public:
  /// `lenient`: accepts a segment size below 2, the bytes of the size itself, as libjpeg does.
  explicit JpegSegments(FileBytes file, bool lenient = false)
      : file_(std::move(file)), lenient_(lenient) {}

  /// The data of the segment is valid until the next call. Throws ItemError(corrupt).
  JpegSegment next();

 private:
  template <class Predicate>
  std::byte skip_past(const Predicate& matches);
  int skip_to_marker();

  FileBytes file_;
  bool lenient_;
  std::size_t offset_ = 2;
  std::size_t stray_ = 0;  // bytes before the first scan
  bool in_scans_ = false;
};

}  // namespace eckart::codec
