#pragma once

#include "core/color_mode.hpp"
#include "core/image.hpp"

namespace eckart::preparation {

/// Whether the matrices of an image are other numbers than its samples.
constexpr bool has_own_matrices(const ImageShape& image, ColorMode mode) {
  return image.channels > 1 && (mode == ColorMode::luma || mode == ColorMode::ycbcr);
}

/// The matrices of an RGB image in the modes luma and ycbcr, of matrices_shape(). Luma is
/// luma_of(). Y, Cb and Cr are those of JPEG: ITU-T T.871, 7, with the whole range of the depth,
/// each multiplied by a factor so that matrices_scale() holds. Of floats, they are floats around 0.
Image color_matrices(const Image& image, ColorMode mode);

/// An RGB image made of approximated matrices.
struct RestoredImage {
  Image pixels;
  /// Squared error of all samples against the image, in levels^2.
  double squared_error = 0;
  /// The same before samples were clamped and rounded; includes the rounding of the matrices.
  double residual = 0;
};

/// Adds the change from `matrices` to `approximation` to the image. So an exact approximation gives
/// back exactly the image, although color_matrices() rounds; and in the mode luma, chroma stays as
/// it is, except where samples are clamped.
RestoredImage restore_colors(const Image& image, const Image& matrices, const Image& approximation,
                             ColorMode mode);

}  // namespace eckart::preparation
