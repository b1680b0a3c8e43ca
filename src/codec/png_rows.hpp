#pragma once

#include <zlib.h>

#include <cstddef>
#include <span>
#include <string>

#include "codec/deadline.hpp"

namespace eckart::codec {

/// The inflated rows of a PNG, from its IDAT chunks. The stream must contain all rows and, unless
/// more data follow them, end with the correct Adler-32. Each chunk must have the correct CRC.
/// Functions other than the constructor do not throw, because frames of libspng are between the
/// caller and this class.
class PngRows {
 public:
  /// `chunks`: all complete IDAT chunks, contiguous. Throws std::bad_alloc.
  PngRows(std::span<const std::byte> chunks, Deadline& deadline);
  PngRows(const PngRows&) = delete;
  PngRows& operator=(const PngRows&) = delete;
  ~PngRows();

  /// Fills `to` with the next bytes; returns false on failure.
  bool read(std::span<std::byte> to);

  /// Call it after all rows. Returns whether the stream ends correctly.
  bool finish();

  /// Returns why read() or finish() failed; empty if the deadline has passed or memory ran out.
  const std::string& failure() const { return failure_; }
  bool out_of_memory() const { return out_of_memory_; }

 private:
  bool fail(const char* why);
  bool next_input();
  bool next_chunk();
  bool inflate_some();

  std::span<const std::byte> chunks_;  // not yet begun
  std::span<const std::byte> rest_;    // of the current chunk
  Deadline& deadline_;
  z_stream stream_{};
  bool ended_ = false;
  bool out_of_memory_ = false;
  std::string failure_;
};

}  // namespace eckart::codec
