#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "core/image.hpp"
#include "io/deadline.hpp"

namespace eckart::io {

/// Decodes a PNG of that shape, as it lies in the file (EXIF orientation not applied), given in
/// pieces: its signature and the chunks that make the pixels. Others are better left out, since
/// libspng would unpack all their text and colour profiles. Strict: wrong checksums, missing rows
/// and bad codes throw ItemError(corrupt) with the reason. Throws ItemError(too_large) after the
/// deadline.
Image decode_with_spng(std::span<const std::span<const std::byte>> pieces,
                       const ImageShape& announced, Deadline& deadline);

std::string spng_version();

}  // namespace eckart::io
