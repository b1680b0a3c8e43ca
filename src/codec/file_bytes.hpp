#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "core/byte_buffer.hpp"

namespace eckart::codec {

/// The bytes of a file, for parsers of headers. They are in memory, or are read on demand, a few
/// kilobytes at a time. Must not outlive the file or the memory.
class FileBytes {
 public:
  /// The maximum number of bytes read from one file. Skipped bytes do not count.
  static constexpr std::size_t kMaxRead = std::size_t(64) << 20;

  // Implicit, so that bytes in memory can be passed in place of a file.
  FileBytes(std::span<const std::byte> bytes) : whole_(bytes), size_(bytes.size()) {}
  FileBytes(const std::vector<std::byte>& bytes) : FileBytes(std::span(bytes)) {}
  FileBytes(const ByteBuffer& bytes) : FileBytes(std::span(bytes)) {}
  /// Fills the buffer with the bytes from `offset` on, and returns their number, which is smaller
  /// at the end of the file. Throws ItemError(unreadable).
  using ReadAt = std::function<std::size_t(std::size_t offset, std::span<std::byte> buffer)>;
  FileBytes(std::size_t size, ReadAt read_at) : read_at_(std::move(read_at)), size_(size) {}

  std::size_t size() const { return size_; }

  /// Returns the bytes that are in memory; empty if they are read on demand.
  std::span<const std::byte> whole() const { return whole_; }

  /// Returns the bytes from `offset` on: at least `count`, unless the file ends before. Valid until
  /// the next call. Throws ItemError: unreadable, or too_large if more than kMaxRead bytes would be
  /// read.
  std::span<const std::byte> at(std::size_t offset, std::size_t count);

 private:
  std::span<const std::byte> fill_window(std::size_t offset, std::size_t count);

  ReadAt read_at_;  // empty: the bytes are in memory
  std::span<const std::byte> whole_;
  std::size_t size_;
  std::vector<std::byte> window_;
  std::size_t window_offset_ = 0;
  std::size_t read_ = 0;
};

}  // namespace eckart::codec
