#include "codec/png/encoded_image.hpp"

#include <cstring>

#include "core/round_up.hpp"

namespace eckart::codec::png {

std::size_t padded_stream_bytes(const EncodedImage& image) {
  return round_up(image.stream_bytes, std::size_t(4));
}

void copy_stream(const EncodedImage& image, std::byte* to) {
  for (const std::span<const std::byte>& part : image.stream) {
    std::memcpy(to, part.data(), part.size());
    to += part.size();
  }
  std::memset(to, 0, padded_stream_bytes(image) - image.stream_bytes);
}

}  // namespace eckart::codec::png
