#include "preparation/preparer.hpp"

#include <algorithm>
#include <utility>

#include "preparation/gray.hpp"
#include "preparation/normalize.hpp"
#include "preparation/premultiplied_alpha.hpp"
#include "preparation/resize.hpp"

namespace eckart::preparation {

Picture Preparer::prepare(Picture picture, Resizer* resizer) {
  if (preparation_.gray && picture.pixels.shape().channels > 1) {
    picture.pixels = to_gray(std::move(picture.pixels));
    picture.metadata.icc.clear();
  }
  const ImageShape resized = resized_shape(picture.pixels.shape(), preparation_.size);
  const auto resize_image = [&](Image image) {
    if (resizer) {
      if (auto result = resizer->try_resize(image, resized.rows, resized.cols))
        return std::move(*result);
    }
    return resize(std::move(image), resized.rows, resized.cols, weights_);
  };
  const bool is_translucent = !picture.alpha.empty() && resized != picture.pixels.shape();
  if (is_translucent) multiply_by_alpha(picture.pixels, picture.alpha);
  picture.pixels = resize_image(std::move(picture.pixels));
  if (is_translucent) {
    picture.alpha = resize_image(std::move(picture.alpha));
    divide_by_alpha(picture.pixels, picture.alpha);
  }
  if (preparation_.normalize == Normalization::minmax) {
    normalize_minmax(picture.pixels);
    picture.metadata.dicom.reset();  // its values are those of other samples
  }
  return picture;
}

std::size_t Preparer::memory_bytes(const ImageShape& shape) const {
  ImageShape converted = shape;
  if (preparation_.gray) converted.channels = 1;
  const std::size_t gray = converted == shape ? 0 : shape.bytes() + converted.bytes();
  const ImageShape resized = resized_shape(converted, preparation_.size);
  return std::max(gray, resize_bytes(converted, resized.rows, resized.cols));
}

}  // namespace eckart::preparation
