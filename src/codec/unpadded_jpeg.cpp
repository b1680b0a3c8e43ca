#include "codec/unpadded_jpeg.hpp"

#include <algorithm>

namespace eckart::codec {
namespace {

constexpr std::byte kPrefix{0xFF};

bool is_stuffed(std::byte code) { return code == std::byte(0) || code == kPrefix; }
bool is_restart(std::byte code) { return (code & std::byte(0xF8)) == std::byte(0xD0); }
bool has_data(std::byte code) {
  return code != std::byte(0x01) && code != std::byte(0xD8) && code != std::byte(0xD9) &&
         !is_restart(code);
}

}  // namespace

/// Returns the end of the segment whose marker is at `marker`. Skips its data, which may contain
/// any bytes.
std::size_t UnpaddedJpeg::end_of_segment(std::size_t marker) const {
  const std::byte code = file_[marker + 1];
  if (!has_data(code) || file_.size() - marker < 4) return marker + 2;
  const std::size_t size = std::size_t(file_[marker + 2]) << 8 | std::size_t(file_[marker + 3]);
  return std::min(file_.size(), marker + 2 + size);
}

std::span<const std::byte> UnpaddedJpeg::next() {
  for (std::size_t at = begin_; file_.size() - at >= 2;) {
    const auto prefix = std::find(file_.begin() + std::ptrdiff_t(at), file_.end() - 1, kPrefix);
    if (prefix == file_.end() - 1) break;
    const auto marker = std::size_t(prefix - file_.begin());
    if (is_stuffed(prefix[1])) {
      at = marker + (prefix[1] == kPrefix ? 1 : 2);
      continue;
    }
    std::size_t end = marker;  // end of the data before the padding
    while (end > at && file_[end - 1] == std::byte(0)) --end;
    at = end_of_segment(marker);
    if (end == marker || end == begin_) {
      if (end != marker) begin_ = marker;
      continue;
    }
    const std::span<const std::byte> piece = file_.subspan(begin_, end - begin_);
    begin_ = marker;
    return piece;
  }
  const std::span<const std::byte> rest = file_.subspan(begin_);
  begin_ = file_.size();
  return rest;
}

}  // namespace eckart::codec
