#pragma once

#include "codec/deadline.hpp"
#include "codec/tiff_layout.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// Reads the pixels and alpha of a page, without its orientation and metadata. Colors that are
/// multiplied by alpha are divided by it. Throws ItemError: corrupt, also where libtiff only warns;
/// too_large after the deadline.
Picture read_tiff_pixels(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline);

}  // namespace eckart::codec
