#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace eckart::hash {

/// 64 bits of a keyed hash (sip_hash()), for tables of names in this process. The key is random, so
/// collisions cannot be constructed.
std::uint64_t name_hash(std::string_view name);

/// 16 hexadecimal digits of SHA-256, the same in every process, for names that are derived from
/// other names.
std::string name_digest(std::string_view name);

}  // namespace eckart::hash
