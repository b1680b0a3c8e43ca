#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/records.hpp"

namespace eckart::ledger {

/// The publish intents of outputs that are published together, as one value of the ledger. Reports
/// and run numbers are left out.
std::string encode_intents(std::span<const OutputEntry> intents);
/// Throws DatabaseError if the value is damaged.
std::vector<OutputEntry> decode_intents(std::string_view encoded, std::int64_t run);

}  // namespace eckart::ledger
