#pragma once

#include <cstddef>
#include <span>

namespace eckart::codec {

/// The bytes of a JPEG without zeros directly before a marker, as consecutive pieces. Some writers
/// pad scans or restart intervals with zeros. Codes rarely end in zeros, because the bits up to the
/// next byte are ones.
class UnpaddedJpeg {
 public:
  explicit UnpaddedJpeg(std::span<const std::byte> file) : file_(file) {}

  /// Returns the next piece, which refers to the file. It is empty only at the end.
  std::span<const std::byte> next();

 private:
  std::size_t end_of_segment(std::size_t marker) const;

  std::span<const std::byte> file_;
  std::size_t begin_ = 0;  // of the next piece
};

}  // namespace eckart::codec
