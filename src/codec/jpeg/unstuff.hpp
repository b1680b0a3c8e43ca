#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "core/round_up.hpp"

namespace eckart::codec::jpeg {

/// The size of a buffer for the data of a scan: decode_scan() reads whole words.
constexpr std::size_t max_unstuffed_bytes(std::size_t stuffed_bytes) {
  return round_up(stuffed_bytes, std::size_t(4));
}

/// Copies the entropy-coded data at the start of `scan` to `data`, without the zero after each
/// 0xFF, and appends zeros up to a whole word of 4 bytes. Returns the number of bytes without the
/// appended zeros, or nothing if the data do not end with the end-of-image marker. Bytes after it
/// are ignored, as by libjpeg. `data` must have max_unstuffed_bytes(scan.size()) bytes.
std::optional<std::size_t> unstuff(std::span<const std::byte> scan, std::span<std::byte> data);

}  // namespace eckart::codec::jpeg
