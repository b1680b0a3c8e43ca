#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "codec/jpeg/irregularity.hpp"
#include "codec/jpeg/layout.hpp"
#include "codec/jpeg/tables.hpp"
#include "core/image.hpp"

namespace eckart::codec::jpeg {

/// What the segments before the scan say about a baseline image.
struct JpegHeader {
  Layout layout;
  TableSpecs tables;
  std::size_t scan_offset = 0;  ///< of the entropy-coded data in the file

  ImageShape shape() const { return {layout.rows, layout.cols, layout.channels, Depth::u8}; }
};

/// Parses the segments up to the scan. Accepts only what libjpeg accepts without a warning:
/// baseline or extended sequential files with 8 bits, Huffman codes, gray or YCbCr, chroma with all
/// or half of the columns and rows, and one scan. Otherwise `header` is only partly filled.
[[nodiscard]] Irregularity parse_header(std::span<const std::byte> file, JpegHeader& header);

}  // namespace eckart::codec::jpeg
