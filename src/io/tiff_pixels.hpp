#pragma once

#include "core/picture.hpp"
#include "io/deadline.hpp"
#include "io/tiff_layout.hpp"

namespace eckart::io {

/// Reads the pixels and alpha of a page, without its orientation and metadata. Colors that are
/// multiplied by alpha are divided by it. Throws ItemError: corrupt, also where libtiff only warns;
/// too_large after the deadline.
Picture read_tiff_pixels(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline);

}  // namespace eckart::io
