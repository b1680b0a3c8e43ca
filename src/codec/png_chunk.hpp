#pragma once

#include <libdeflate.h>

#include <cstddef>
#include <cstdint>
#include <span>

// A PNG chunk consists of the length of its data, its type, its data, and the CRC of type and data.

namespace eckart::codec {

inline std::uint32_t big_endian_32(std::span<const std::byte, 4> bytes) {
  std::uint32_t value = 0;
  for (const std::byte byte : bytes) value = value << 8 | std::uint32_t(byte);
  return value;
}

/// Returns the first of several complete, consecutive chunks.
inline std::span<const std::byte> first_chunk(std::span<const std::byte> chunks) {
  return chunks.first(big_endian_32(chunks.first<4>()) + 12);
}

inline std::span<const std::byte> data_of_chunk(std::span<const std::byte> chunk) {
  return chunk.subspan(8, chunk.size() - 12);
}

inline bool has_valid_crc(std::span<const std::byte> chunk) {
  const std::span<const std::byte> checked = chunk.subspan(4, chunk.size() - 8);
  return libdeflate_crc32(0, checked.data(), checked.size()) == big_endian_32(chunk.last<4>());
}

}  // namespace eckart::codec
