#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace eckart::hash {

using SipKey = std::array<std::uint64_t, 2>;

/// SipHash-2-4 (Aumasson, Bernstein 2012): 64 bits. Without the key, nobody can construct
/// collisions. About 20 ns for a file name.
std::uint64_t sip_hash(const SipKey& key, std::string_view bytes);

}  // namespace eckart::hash
