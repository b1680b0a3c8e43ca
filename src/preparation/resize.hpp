#pragma once

#include <cstddef>

#include "core/image.hpp"
#include "preparation/filter_weights.hpp"

namespace eckart::preparation {

/// Resizes an image to rows x cols: first each row to `cols`, then each column to `rows`, with
/// lanczos_weights(). After each of the two, samples are rounded to their depth; floats are summed
/// in float64. A side that keeps its length is not filtered. The result for 8 bits, and for floats
/// within their rounding, equals that of Image.resize(LANCZOS) of Pillow.
Image resize(Image image, int rows, int cols, WeightCache& weights);

/// Returns the largest memory of resize() or Resizer::try_resize() in bytes, with the input and
/// without weights.
std::size_t resize_bytes(const ImageShape& shape, int rows, int cols);

}  // namespace eckart::preparation
