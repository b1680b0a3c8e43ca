#pragma once

#include <optional>

#include "core/image.hpp"
#include "core/picture.hpp"

namespace eckart {

/// Returns the largest sample of a DICOM image whose samples have fewer bits than `depth`.
std::optional<int> largest_stored_sample(const Metadata& metadata, Depth depth);

/// Clamps samples to at most `max`. Returns whether one was larger.
bool clamp_samples(Image& image, int max);

/// Clamps the pixels of such an image: resizing may exceed the range of its samples.
void clamp_to_stored_bits(Picture& picture);

}  // namespace eckart
