#include "codec/encoded_png.hpp"

#include "codec/libdeflate_decoder.hpp"
#include "codec/png/decoder.hpp"
#include "codec/png_chunk.hpp"

namespace eckart::codec {

std::optional<png::EncodedImage> read_encoded_png(const PngParts& parts) {
  png::EncodedImage image{parts.shape, {}, 0};
  const bool has_rows_of_samples = parts.pixel_bytes > 0 && parts.shape.depth == Depth::u8;
  if (!has_rows_of_samples || parts.has_alpha() ||
      parts.idat.size() > max_idat_bytes(parts.row_bytes))
    return std::nullopt;
  // So the list of the parts takes at most half of the memory of the file, and 2 KB.
  const std::size_t max_parts = 64 + parts.idat.size() / (4 * sizeof(std::span<const std::byte>));
  for (std::span<const std::byte> chunks = parts.idat; !chunks.empty();) {
    const std::span<const std::byte> chunk = first_chunk(chunks), data = data_of_chunk(chunk);
    if (!has_valid_crc(chunk) || image.stream.size() == max_parts) return std::nullopt;
    if (!data.empty()) image.stream.push_back(data);
    image.stream_bytes += data.size();
    chunks = chunks.subspan(chunk.size());
  }
  if (image.stream.empty() || !png::is_within_limits(image)) return std::nullopt;
  return image;
}

}  // namespace eckart::codec
