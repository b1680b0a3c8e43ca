#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace eckart::codec::png {

/// The bytes of rows in a deflate block.
constexpr std::size_t kBlockBytes = 65536;

/// Returns a zlib stream of the rows with their filter bytes. Each block of kBlockBytes has its own
/// prefix code. Its symbols are literals and runs of one value, because nothing else repeats in
/// filtered photographs. The GPU makes the same bytes. Throws std::bad_alloc.
std::vector<std::byte> compress_rows(std::span<const std::uint8_t> rows);

}  // namespace eckart::codec::png
