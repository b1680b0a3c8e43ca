#pragma once

#include <cstddef>
#include <vector>

#include "core/picture.hpp"

namespace eckart::codec {

/// Returns a TIFF: strips compressed with Deflate after differencing, alpha
/// unassociated, with ICC profile and XMP. A file that may exceed 4 GiB is a BigTIFF. Throws
/// ItemError(not_written), std::bad_alloc.
std::vector<std::byte> encode_tiff(const PictureView& picture);

}  // namespace eckart::codec
