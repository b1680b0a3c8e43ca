#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "codec/file_bytes.hpp"
#include "codec/jpeg/marker.hpp"

namespace eckart::codec {

using JpegMarker = jpeg::Marker;

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
