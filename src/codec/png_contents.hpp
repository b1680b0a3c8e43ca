#pragma once

#include <cstddef>
#include <span>

#include "codec/orientation.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_ihdr.hpp"
#include "codec/png_parts.hpp"

namespace eckart::codec {

/// The parts of a file that affect the image.
struct PngContents {
  PngParts parts;
  int orientation = kNormalOrientation;
};

/// Reads all chunks and checks that the file is complete. Ignores bytes after IEND. Throws
/// ItemError(corrupt).
PngContents read_png_contents(std::span<const std::byte> file);

/// Throws ItemError(corrupt) if the chunk, not the first, is critical and unknown, or a header.
void check_known_png_chunk(const PngChunk& chunk);

/// Sets the parts that a tRNS chunk determines. `whole`: the chunk with length, type and CRC.
/// Ignores an invalid chunk, as libpng does.
void read_png_transparency(PngParts& parts, const PngIhdr& ihdr, std::span<const std::byte> whole);

}  // namespace eckart::codec
