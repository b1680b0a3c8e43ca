#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/input_file.hpp"

namespace eckart::io {

/// SHA-256 of the bytes: 32 bytes, not text.
std::string content_hash(std::span<const std::byte> bytes);

/// Of the first size() bytes of an open file. Throws ItemError(unreadable), also where there are
/// fewer by now.
std::string content_hash(const InputFile& file);

/// The same, in hexadecimal.
std::string content_hash_hex(const InputFile& file);

}  // namespace eckart::io
