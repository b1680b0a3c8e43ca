#pragma once

#include <span>

#include "core/image.hpp"

namespace eckart::analysis {

/// All samples of an image, row by row. Sample must match the depth.
template <class Sample>
std::span<const Sample> samples(const Image& image) {
  return {reinterpret_cast<const Sample*>(image.data()), image.shape().samples()};
}

}  // namespace eckart::analysis
