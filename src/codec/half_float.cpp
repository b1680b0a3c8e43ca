#include "codec/half_float.hpp"

#include <bit>

namespace eckart::codec {

std::uint16_t to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const std::uint32_t sign = (bits >> 16) & 0x8000u, magnitude = bits & 0x7FFFFFFFu;
  if (magnitude > 0x7F800000u) return std::uint16_t(sign | 0x7E00u);   // NaN
  if (magnitude >= 0x477FF000u) return std::uint16_t(sign | 0x7C00u);  // 65520 and more
  if (magnitude < 0x38800000u) {  // below 2^-14: adding 1/2 leaves multiples of 2^-24
    const float shifted = std::bit_cast<float>(magnitude) + 0.5F;
    return std::uint16_t(sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u));
  }
  const std::uint32_t odd = (magnitude >> 13) & 1u;
  return std::uint16_t(sign | ((magnitude - 0x38000000u + 0xFFFu + odd) >> 13));
}

float from_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000u) << 16, magnitude = half & 0x7FFFu;
  if (magnitude >= 0x7C00u)
    return std::bit_cast<float>(sign | 0x7F800000u | ((magnitude & 0x3FFu) << 13));
  if (magnitude < 0x400u) {  // subnormal
    const float value = float(magnitude) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(value));
  }
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

}  // namespace eckart::codec
