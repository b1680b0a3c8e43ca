#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>

#include "io/deadline.hpp"

namespace eckart::io {

/// The inflated rows of a PNG: what its IDAT chunks hold, checked. The stream must have all rows
/// and, unless more follows them, its end with the right Adler-32; each chunk must have the right
/// CRC. Throws nothing after construction: libspng's frames are between the caller and this.
class PngRows {
 public:
  /// `chunks`: all IDAT chunks, one after the other, whole. Throws std::bad_alloc.
  PngRows(std::span<const std::byte> chunks, Deadline& deadline);
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;
  ~PngRows();

  /// Fills `to` with the next bytes; false if it cannot.
  bool read(std::span<std::byte> to);

  /// After all rows: whether the stream ends as it should.
  bool finish();

  /// After either failed: why, or empty if the deadline has passed or there is no memory.
  const std::string& failure() const { return failure_; }
  bool out_of_memory() const { return out_of_memory_; }

 private:
  bool fail(const char* why);
  bool next_input();
  bool next_chunk();
  bool inflate_some();

  std::span<const std::byte> chunks_;  // that were not begun
  std::span<const std::byte> rest_;    // of the chunk that is being read
  Deadline& deadline_;
  z_stream stream_{};
  bool ended_ = false;
  bool out_of_memory_ = false;
  std::string failure_;
};

}  // namespace eckart::io
