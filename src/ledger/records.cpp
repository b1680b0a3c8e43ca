#include "ledger/records.hpp"

#include "hash/fnv1a.hpp"

namespace eckart::ledger {

std::uint64_t settings_hash(std::string_view text) { return hash::fnv1a(text); }

}  // namespace eckart::ledger
