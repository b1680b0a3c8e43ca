#include "codec/jpeg_segments.hpp"

#include <algorithm>

#include "codec/image_codecs.hpp"

namespace eckart::codec {
namespace {

constexpr std::size_t kMaxStray = FileBytes::kMaxRead / 2;

bool is_restart(int marker) { return marker >= JpegMarker::kRst0 && marker <= JpegMarker::kRst7; }
bool has_data(int marker) {
  return marker != JpegMarker::kTem && marker != JpegMarker::kSoi && marker != JpegMarker::kEoi;
}

[[noreturn]] void fail_truncated() { fail_corrupt("truncated: no end-of-image marker"); }

}  // namespace

bool is_jpeg_frame_header(int marker) {
  return (marker >= JpegMarker::kSof0 && marker <= JpegMarker::kSof15 &&
          marker != JpegMarker::kDht && marker != JpegMarker::kJpg && marker != JpegMarker::kDac) ||
         marker == JpegMarker::kSof55;
}

JpegSegment JpegSegments::next() {
  const int marker = skip_to_marker();
  in_scans_ |= marker == JpegMarker::kSos;
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

/// Skips all bytes up to and including the first for which `matches` returns true; returns that
/// byte.
template <class Predicate>
std::byte JpegSegments::skip_past(const Predicate& matches) {
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

int JpegSegments::skip_to_marker() {
  for (;;) {
    skip_past([](std::byte b) { return b == std::byte(0xFF); });
    const std::byte code = skip_past([](std::byte b) { return b != std::byte(0xFF); });
    if (code != std::byte(0) && !is_restart(int(code))) return int(code);
  }
}

}  // namespace eckart::codec
