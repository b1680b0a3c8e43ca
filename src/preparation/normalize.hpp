#pragma once

#include "core/image.hpp"

namespace eckart::preparation {

/// Maps the smallest sample of the image to 0, the largest to the peak of its depth, and the
/// others linearly; integers are rounded to the nearest (halves up). Floats are mapped to 0 ... 1.
/// All channels have the same map. A constant image becomes 0.
void normalize_minmax(Image& image);

}  // namespace eckart::preparation
