#pragma once

#include "core/image.hpp"

namespace eckart::preparation {

// Filters must not mix the colors of transparent pixels into visible ones. Both functions round as
// Pillow's conversions between RGBA and RGBa do; floats are not rounded. `alpha` is a gray image of
// the same rows, columns and depth.

/// Multiplies the samples of each pixel by its alpha, as a share of the peak.
void multiply_by_alpha(Image& pixels, const Image& alpha);

/// Divides the samples by alpha; where that is 0, they stay.
void divide_by_alpha(Image& pixels, const Image& alpha);

}  // namespace eckart::preparation
