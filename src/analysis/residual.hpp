#pragma once

#include "core/image.hpp"

namespace eckart::analysis {

/// The largest power of two with which residual_image() clips no sample. 1 if the images are equal,
/// or floats. Requires the same shape.
double largest_residual_gain(const Image& original, const Image& reconstruction);

/// Returns center + gain x (original - reconstruction), rounded, and clamped to the range of the
/// samples. The center is 128 for 8 bits and 32768 for 16. Floats are centered
/// at 0, and neither rounded nor clamped. Requires the same shape.
Image residual_image(const Image& original, const Image& reconstruction, double gain);

}  // namespace eckart::analysis
