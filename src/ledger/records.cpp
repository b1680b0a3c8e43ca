#include "ledger/records.hpp"

namespace eckart::ledger {

std::uint64_t settings_hash(std::string_view text) {
  constexpr std::uint64_t kOffset = 14695981039346656037U, kPrime = 1099511628211U;
  std::uint64_t hash = kOffset;
  for (const char byte : text) hash = (hash ^ std::uint8_t(byte)) * kPrime;
  return hash;
}

}  // namespace eckart::ledger
