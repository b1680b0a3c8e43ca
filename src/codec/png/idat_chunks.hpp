#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eckart::codec::png {

/// Appends IDAT chunks with a zlib stream of the rows with their filter bytes. Each chunk has one
/// deflate block of kBlockBytes, and the last one what is left. A block has its own prefix code.
/// Its symbols are literals and runs of one value, because nothing else repeats in filtered
/// photographs. The GPU makes the same bytes. Throws std::bad_alloc.
void append_idat_chunks(std::span<const std::uint8_t> rows, std::vector<std::byte>& file);

}  // namespace eckart::codec::png
