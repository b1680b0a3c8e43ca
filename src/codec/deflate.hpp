#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace eckart::codec {

/// Returns a zlib stream. `level`: 1 to 12, of libdeflate. Throws std::bad_alloc.
std::vector<std::byte> compress_zlib(std::span<const std::byte> bytes, int level);

/// Returns the contents of a zlib stream; nullopt if it is damaged or has more than `max_bytes`.
std::optional<std::vector<std::byte>> inflate_zlib(std::span<const std::byte> stream,
                                                   std::size_t max_bytes);

std::string deflate_version();

}  // namespace eckart::codec
