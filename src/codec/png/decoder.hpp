#pragma once

#include <variant>

#include "codec/png/encoded_image.hpp"
#include "codec/png/irregularity.hpp"
#include "core/image.hpp"

namespace eckart::codec::png {

/// Whether inflate() takes this image: its sizes are within the limits.
bool is_within_limits(const EncodedImage& image);

/// Decodes as the GPU does, with the same source. Requires is_within_limits(). For tests: it is
/// slower than libdeflate.
std::variant<Image, Irregularity> decode(const EncodedImage& image);

}  // namespace eckart::codec::png
