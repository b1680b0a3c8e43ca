#pragma once

#include "codec/codec.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Returns the metadata of outputs of this format and shape, made from a picture with `metadata`.
/// EXIF and XMP describe an upright image, without the stamp of the input; see
/// make_exif_upright() and remove_description(). An ICC profile for other
/// channels, such as RGB for a gray image, is left out. What the format cannot hold is named in
/// `dropped`. Subsampling is not metadata: it stays with every policy.
Metadata output_metadata(const Metadata& metadata, MetadataPolicy policy, const Codec& codec,
                         const ImageShape& shape);

}  // namespace eckart::codec
