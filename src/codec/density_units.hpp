#pragma once

#include <cmath>
#include <cstdint>

#include "core/picture.hpp"

namespace eckart::codec {

// Formats store resolutions per inch or per centimeter; PixelDensity is per meter.
inline constexpr double kInchesPerMeter = 1 / 0.0254;
inline constexpr double kCentimetersPerMeter = 100;

/// Values of the tag ResolutionUnit. TIFF 6.0, section 8.
struct ResolutionUnit {
  enum : std::uint32_t { kNone = 1, kInch = 2, kCentimeter = 3 };
};

/// Returns whether a density is made from whole numbers per inch (kInchesPerMeter) or per
/// centimeter, which were rounded to numbers per meter.
inline bool is_whole_number(const PixelDensity& density, double units_per_meter) {
  const auto is_rounded = [&](std::uint32_t n) {
    return std::lround(std::round(n / units_per_meter) * units_per_meter) == long(n);
  };
  return is_rounded(density.x) && is_rounded(density.y);
}

}  // namespace eckart::codec
