#pragma once

#include "core/picture.hpp"

namespace eckart::codec {

/// Orientations 1 to 8. CIPA DC-008 (EXIF 2.32), 4.6.4.
constexpr int kNormalOrientation = 1;
constexpr int kLastUntransposedOrientation = 4;  ///< larger ones exchange rows and cols

/// Rotates and mirrors the image so that it is upright. Orientations 5 to 8 exchange rows and cols.
Image apply_orientation(Image image, int orientation);
/// The same for pixels and alpha.
Picture apply_orientation(Picture picture, int orientation);

}  // namespace eckart::codec
