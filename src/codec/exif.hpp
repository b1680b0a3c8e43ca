#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/picture.hpp"

namespace eckart::codec {

/// Precedes EXIF data in JPEGs.
inline constexpr std::string_view kExifPrefix("Exif\0\0", 6);

/// Returns the EXIF data in a chunk of a PNG or WebP. Some programs write kExifPrefix there by
/// mistake: it is left out.
std::span<const std::byte> exif_of_chunk(std::span<const std::byte> data);

/// Returns whether EXIF data has a header and a directory.
bool is_exif(std::span<const std::byte> exif);

/// Returns the orientation, 1 to 8, from EXIF data: the value of tag 0x0112. Returns
/// kNormalOrientation if the data is invalid or has no valid orientation.
int exif_orientation(std::span<const std::byte> exif);

/// Returns the resolution that EXIF data gives, for the image before its orientation is applied.
/// CIPA DC-008 (EXIF 2.32), 4.6.4.
std::optional<PixelDensity> exif_density(std::span<const std::byte> exif);

/// Changes EXIF data so that it describes an upright image of this size: the orientation is 1, the
/// pixel dimensions are those of the image, and the thumbnail (the second directory), which shows
/// another image, is removed. All other entries stay as they are.
void make_exif_upright(std::vector<std::byte>& exif, int rows, int cols);

/// Sets the orientation in an XMP packet (tiff:Orientation) to 1.
void make_xmp_upright(std::vector<std::byte>& xmp);

}  // namespace eckart::codec
