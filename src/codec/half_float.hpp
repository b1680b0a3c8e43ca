#pragma once

#include <cstdint>

namespace eckart::codec {

/// Rounds to the nearest number of IEEE 754 binary16, ties to even. Too large: infinity.
std::uint16_t to_half(float value);

/// Exact.
float from_half(std::uint16_t half);

}  // namespace eckart::codec
