#pragma once

#include <cstddef>
#include <span>

namespace eckart::io {

/// The bytes of a JPEG without the zeros that stand right before a marker: some writers pad scans
/// or restart intervals so. Codes do not end in zeros but by chance, since bits up to the next byte
/// are ones. Piece by piece, in order.
class UnpaddedJpeg {
 public:
  explicit UnpaddedJpeg(std::span<const std::byte> file) : file_(file) {}

  /// Never empty but at the end. Bytes of the file, which are not copied.
  std::span<const std::byte> next();

 private:
  std::size_t end_of_segment(std::size_t marker) const;

  std::span<const std::byte> file_;
  std::size_t begin_ = 0;  // of the next piece
};

}  // namespace eckart::io
