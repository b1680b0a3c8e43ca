#include "codec/png/decoder.hpp"

#include <memory>

#include "codec/png/inflate.hpp"
#include "codec/png/wavefront_unfilter.hpp"
#include "core/warp.hpp"

namespace eckart::codec::png {

bool is_within_limits(const EncodedImage& image) {
  return image.stream_bytes <= std::size_t(kMaxInflateBytes) &&
         image.row_bytes() <= std::size_t(kMaxInflatedBytes) / std::size_t(image.shape.rows);
}

std::variant<Image, Irregularity> decode(const EncodedImage& image) {
  const std::size_t size = std::size_t(image.shape.rows) * image.row_bytes();
  constexpr std::size_t kPaddingBytes = 3;
  const auto rows = std::make_unique<std::uint8_t[]>(size + kPaddingBytes);
  std::vector<std::uint32_t> words(padded_stream_bytes(image) / sizeof(std::uint32_t));
  copy_stream(image, reinterpret_cast<std::byte*>(words.data()));
  const auto memory = std::make_unique<InflateMemory>();
  HostWarp warp;
  const InflatedRows inflated{rows.get(), image.shape.rows, std::int32_t(image.row_bytes())};
  const Irregularity found =
      inflate(warp, {words.data(), std::int32_t(image.stream_bytes)}, inflated, *memory);
  if (found != Irregularity::none) return found;
  Image pixels(image.shape);
  unfilter(warp, inflated, image.shape.channels, reinterpret_cast<std::uint8_t*>(pixels.data()));
  return pixels;
}

}  // namespace eckart::codec::png
