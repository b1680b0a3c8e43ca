#pragma once

namespace eckart::io {

// Formats store resolutions per inch or per centimeter; PixelDensity is per meter.
inline constexpr double kInchesPerMeter = 1 / 0.0254;
inline constexpr double kCentimetersPerMeter = 100;

}  // namespace eckart::io
