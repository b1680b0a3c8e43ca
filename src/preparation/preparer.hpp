#pragma once

#include <cstddef>

#include "core/picture.hpp"
#include "core/preparation.hpp"
#include "preparation/filter_weights.hpp"
#include "preparation/resizer.hpp"

namespace eckart::preparation {

/// Prepares pictures: gray, size, normalization, in this order. Thread-safe.
class Preparer {
 public:
  explicit Preparer(const Preparation& preparation) : preparation_(preparation) {}

  /// Alpha is resized as the pixels are. An ICC profile for RGB does not apply to gray pixels and
  /// is removed. `resizer` may be null.
  Picture prepare(Picture picture, Resizer* resizer = nullptr);

  /// Returns the largest memory of prepare() in bytes for pixels of this shape, with its input.
  std::size_t memory_bytes(const ImageShape& shape) const;

  const Preparation& preparation() const { return preparation_; }

 private:
  const Preparation preparation_;
  WeightCache weights_;
};

}  // namespace eckart::preparation
