#pragma once

#include <cstddef>
#include <vector>

#include "codec/codec.hpp"
#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The subsampling of a file. `metadata` may be null.
ChromaSubsampling jpeg_subsampling(const ImageShape& shape, const Metadata* metadata,
                                   JpegSubsampling choice);

/// Returns the file of an image of 8 bits that libjpeg can encode, with metadata, and the texts as
/// a comment. Metadata that is too large for its segment is left out; see Codec::metadata_limits.
/// Throws ItemError(not_written) and std::bad_alloc.
std::vector<std::byte> encode_jpeg(const PictureView& picture, const EncodeOptions& options);

/// As encode_jpeg(), without the entropy-coded data. `options` are those of a baseline JPEG with
/// standard tables.
HeadAndTail encode_jpeg_head_and_tail(const PictureView& picture, const EncodeOptions& options);

}  // namespace eckart::codec
