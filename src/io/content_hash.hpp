#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "io/input_file.hpp"

namespace eckart::io {

/// Returns the SHA-256 of the bytes as 32 binary bytes.
std::string content_hash(std::span<const std::byte> bytes);

/// Hashes the first size() bytes of an open file. Throws ItemError(unreadable), also if the file
/// was truncated.
std::string content_hash(const InputFile& file);

/// Returns the same hash in hexadecimal.
std::string content_hash_hex(const InputFile& file);

}  // namespace eckart::io
