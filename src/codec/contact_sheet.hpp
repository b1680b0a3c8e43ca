#pragma once

#include <string>
#include <vector>

#include "core/image.hpp"

namespace eckart::codec {

// These functions throw FatalError(unavailable) if the module eckart_contact_sheet cannot be
// loaded.

/// Returns the image of 8 bits with its longer side reduced to `max_side`, by averages over areas;
/// or, if its longer side is below `min_side`, enlarged by a whole factor with every pixel as a
/// square.
Image fit_image(const Image& image, int min_side, int max_side);

/// One image of a contact sheet with its residual below it. Owns no pixels.
struct SheetCell {
  std::string heading, detail;        ///< above the image
  const Image* image;                 ///< 8 bits
  const Image* residual = nullptr;    ///< null, or of the same shape
  std::string residual_caption = {};  ///< below the residual
};

/// Returns the cells in rows below a title and more lines, as RGB of 8 bits. All images have the
/// same shape. Characters beyond ASCII are shown as '?'.
Image draw_contact_sheet(const std::string& title, const std::vector<std::string>& lines,
                         const std::vector<SheetCell>& cells);

}  // namespace eckart::codec
