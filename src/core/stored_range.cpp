#include "core/stored_range.hpp"

#include <cstddef>

namespace eckart {

std::optional<int> largest_stored_sample(const Metadata& metadata, Depth depth) {
  const int bits = bits_stored(metadata.dicom);
  const bool is_partial = bits > 0 && bits < 8 * int(depth);
  return is_partial ? std::optional((1 << bits) - 1) : std::nullopt;
}

bool clamp_samples(Image& image, int max) {
  return with_sample_type(image.shape().depth, [&]<class T>(T*) {
    bool has_changed = false;
    T* const samples = reinterpret_cast<T*>(image.data());
    for (std::size_t i = 0; i < image.shape().samples(); ++i) {
      if (!(samples[i] > T(max))) continue;
      samples[i] = T(max);
      has_changed = true;
    }
    return has_changed;
  });
}

void clamp_to_stored_bits(Picture& picture) {
  if (const auto max = largest_stored_sample(picture.metadata, picture.pixels.shape().depth))
    clamp_samples(picture.pixels, *max);
}

}  // namespace eckart
