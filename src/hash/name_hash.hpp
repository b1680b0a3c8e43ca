#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace eckart {

/// 64 bits of a keyed hash (SHA-256), to remember names by in this process. The key is random:
/// nobody can make two names that have one hash.
std::uint64_t name_hash(std::string_view name);

/// 16 hexadecimal digits of SHA-256, the same in every process: for names that are made of others.
std::string name_digest(std::string_view name);

}  // namespace eckart
