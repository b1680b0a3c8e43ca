#pragma once

#include "core/enum_names.hpp"
#include "core/image.hpp"

namespace eckart {

/// Which matrices a color image is decomposed as. Gray images are one matrix in every mode.
enum class ColorMode {
  channels,  ///< red, green and blue: three matrices
  luma,      ///< luma; chroma stays as it is
  ycbcr,     ///< Y, Cb and Cr: three matrices
  joint,     ///< red, green and blue side by side: one matrix
  gray,      ///< the image is converted to gray
};

constexpr auto enum_names(ColorMode) {
  return std::to_array<EnumName<ColorMode>>({{ColorMode::channels, "channels"},
                                             {ColorMode::luma, "luma"},
                                             {ColorMode::ycbcr, "ycbcr"},
                                             {ColorMode::joint, "joint"},
                                             {ColorMode::gray, "gray"}});
}

/// The shape of the matrices of an image: each channel of the result is one matrix. An image that
/// is to become gray must have been converted before.
constexpr ImageShape matrices_shape(ImageShape image, ColorMode mode) {
  if (image.channels == 1) return image;
  if (mode == ColorMode::luma) image.channels = 1;
  if ((mode == ColorMode::luma || mode == ColorMode::ycbcr) && !is_float(image.depth))
    image.depth = Depth::u16;
  if (mode == ColorMode::joint) {
    image.cols *= image.channels;
    image.channels = 1;
  }
  return image;
}

/// matrices_shape() with the depth of the image: what ranks by the bytes of the image refer to.
constexpr ImageShape stored_matrices_shape(const ImageShape& image, ColorMode mode) {
  ImageShape shape = matrices_shape(image, mode);
  shape.depth = image.depth;
  return shape;
}

/// Levels of the matrices per level of the image: mean squared errors of the matrices are this
/// squared times those of the pixels.
///
/// Luma, and Y, Cb and Cr, of 8-bit images have eight binary digits after the point, so that their
/// rounding does not matter.
///
/// A change of luma changes red, green and blue by the same. A change of Cb by 1 changes green by
/// 0.344 and blue by 1.772, so 3.258 is its squared error in the pixels; that of Y is 3, and that
/// of Cr 2.476. The matrices of ColorMode::ycbcr hold Y, Cb and Cr with such factors that each of
/// the three has the weight of Cb.
constexpr double matrices_scale(const ImageShape& image, ColorMode mode) {
  constexpr double kRootOfCbWeight = 1.80513;
  const double steps = image.depth == Depth::u8 ? 256 : 1;
  if (image.channels == 1) return 1;
  if (mode == ColorMode::luma) return steps;
  return mode == ColorMode::ycbcr ? steps / kRootOfCbWeight : 1;
}

}  // namespace eckart
