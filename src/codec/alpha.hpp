#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "core/image_format.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The shape of the alpha of an image of this shape: one channel.
ImageShape alpha_shape(const ImageShape& pixels);

/// Returns a picture from samples with alpha after the channels of each pixel. `shape`: without
/// alpha; `samples`: rows x cols x (channels + 1), of the depth of the shape.
Picture split_alpha(std::span<const std::byte> samples, const ImageShape& shape);

/// Returns alpha that is 0 where all samples of a pixel are those of `color`, else opaque. The
/// pixels must be integers.
Image alpha_of_color(const Image& pixels, std::span<const std::uint16_t> color);

/// The inverse of split_alpha(). The picture must have alpha.
std::vector<std::byte> interleave_alpha(const PictureView& picture);

/// Removes alpha that is opaque in every sample. Applies `policy` to other alpha; fully transparent
/// pixels are treated like others. `white` rounds p a + peak (1 - a) to the nearest level; for
/// floats, the peak is 1. Throws ItemError(unsupported) if the policy is `fail`.
void apply_alpha_policy(Picture& picture, AlphaPolicy policy);

}  // namespace eckart::codec
