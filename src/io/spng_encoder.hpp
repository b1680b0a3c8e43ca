#pragma once

#include <cstddef>
#include <vector>

#include "core/picture.hpp"

namespace eckart::io {

/// Returns a PNG of a picture that has alpha: gray with alpha, or RGBA; its metadata is not
/// written. Throws ItemError(not_written), std::bad_alloc.
std::vector<std::byte> encode_alpha_with_spng(const PictureView& picture);

}  // namespace eckart::io
