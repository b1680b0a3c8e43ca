#pragma once

#include <cstdint>
#include <string_view>

namespace eckart::hash {

/// FNV-1a (Fowler, Noll, Vo), 64 bits. Distinguishes values that nobody chooses on purpose: it is
/// not cryptographic.
constexpr std::uint64_t fnv1a(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : text) hash = (hash ^ std::uint8_t(byte)) * 0x100000001b3;
  return hash;
}

}  // namespace eckart::hash
