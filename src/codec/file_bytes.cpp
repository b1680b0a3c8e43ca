#include "codec/file_bytes.hpp"

#include <algorithm>

#include "core/error.hpp"

namespace eckart::codec {
namespace {

constexpr std::size_t kWindow = std::size_t(8) << 10;
constexpr std::size_t kAfterSkip = 64;  // short, because another skip may follow

}  // namespace

std::span<const std::byte> FileBytes::at(std::size_t offset, std::size_t count) {
  if (offset >= size_) return {};
  count = std::min(count, size_ - offset);
  if (!read_at_) return whole_.subspan(offset);
  const std::size_t end = window_offset_ + window_.size();
  if (offset < window_offset_ || offset > end || end - offset < count)
    return fill_window(offset, count);
  return std::span(window_).subspan(offset - window_offset_);
}

/// Counts each byte once toward kMaxRead.
std::span<const std::byte> FileBytes::fill_window(std::size_t offset, std::size_t count) {
  const std::size_t end_before = window_offset_ + window_.size();
  window_.resize(std::max(count, offset > end_before ? kAfterSkip : kWindow));
  window_.resize(read_at_(offset, window_));
  window_offset_ = offset;
  const std::size_t end = offset + window_.size();
  read_ += end - std::min(end, std::max(offset, end_before));
  if (read_ > kMaxRead)
    throw ItemError(FailureReason::too_large, "has more than 64 MiB of metadata before its pixels");
  return window_;
}

}  // namespace eckart::codec
