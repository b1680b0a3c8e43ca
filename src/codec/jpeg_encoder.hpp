#pragma once

#include <cstddef>
#include <vector>

#include "core/image_format.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Returns the file of an image of 8 bits that libjpeg can encode, with metadata, and the texts as
/// a comment. Metadata that is too large for its segment is left out; see Codec::metadata_limits.
/// Throws ItemError(not_written) and std::bad_alloc.
std::vector<std::byte> encode_jpeg(const PictureView& picture, const EncodeOptions& options);

}  // namespace eckart::codec
