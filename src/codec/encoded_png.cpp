#include "codec/encoded_png.hpp"

#include "codec/libdeflate_decoder.hpp"
#include "codec/png/decoder.hpp"
#include "codec/png_chunk.hpp"
#include "core/round_up.hpp"

namespace eckart::codec {

std::optional<png::EncodedImage> read_encoded_png(const PngParts& parts) {
  constexpr std::size_t kWordBytes = 4;
  png::EncodedImage image{parts.shape, {}, 0};
  const bool has_rows_of_samples = parts.pixel_bytes > 0 && parts.shape.depth == Depth::u8;
  if (!has_rows_of_samples || parts.has_alpha() ||
      parts.idat.size() > max_idat_bytes(parts.row_bytes))
    return std::nullopt;
  image.stream.reserve(parts.idat.size() + kWordBytes);
  for (std::span<const std::byte> chunks = parts.idat; !chunks.empty();) {
    const std::span<const std::byte> chunk = first_chunk(chunks), data = data_of_chunk(chunk);
    if (!has_valid_crc(chunk)) return std::nullopt;
    image.stream.insert(image.stream.end(), data.begin(), data.end());
    chunks = chunks.subspan(chunk.size());
  }
  image.stream_bytes = image.stream.size();
  if (image.stream.empty() || !png::is_within_limits(image)) return std::nullopt;
  image.stream.resize(round_up(image.stream_bytes, kWordBytes));
  return image;
}

}  // namespace eckart::codec
