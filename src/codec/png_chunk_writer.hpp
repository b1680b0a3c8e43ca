#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace eckart::codec {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes);
void append(std::vector<std::byte>& to, std::string_view text);
void append_big_endian_32(std::vector<std::byte>& to, std::uint32_t value);

/// Appends a PNG chunk with its length and CRC. `data`: fewer than 2^31 bytes.
void append_png_chunk(std::vector<std::byte>& file, std::string_view type,
                      std::span<const std::byte> data);

}  // namespace eckart::codec
