#pragma once

#include <cstddef>
#include <memory>

namespace eckart::codec::png {

/// Reverses the filters of the rows of a PNG with 8 or 16 bits per sample that is not interlaced.
/// PNG (third edition), 9.
class RowUnfilter {
 public:
  /// Bytes behind the filtered rows that may be read. They have no effect.
  static constexpr std::size_t kPaddingBytes = 8;

  /// `row_bytes`: without the filter byte; `pixel_bytes`: 1, 2, 3, 4, 6 or 8.
  RowUnfilter(std::size_t row_bytes, std::size_t pixel_bytes);

  /// Unfilters the next row, and if their filters are slow, some rows after it. `filtered`: these
  /// rows, each behind its filter byte; `rows`: their number, at least 1. Returns how many rows
  /// were unfiltered; 0 if a filter byte is invalid.
  int unfilter(const std::byte* filtered, int rows);

  /// Returns a row that the last call of unfilter() made, from 0 on.
  const std::byte* row(int index) const { return row_at(index + 1); }

 private:
  std::byte* row_at(int index) const { return rows_.get() + std::size_t(index) * stride_; }
  int unfilter_next(const std::byte* filtered, int rows);
  template <std::size_t kPixelBytes>
  int unfilter_together(const std::byte* filtered, int rows);

  static constexpr std::size_t kMaxRows = 16;  // unfiltered at the same time
  std::size_t row_bytes_, pixel_bytes_, stride_;
  std::unique_ptr<std::byte[]> rows_;  // the row above, then those of the last call
  int last_ = 0;                       // the index of the last row
};

}  // namespace eckart::codec::png
