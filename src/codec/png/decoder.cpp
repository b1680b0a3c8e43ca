#include "codec/png/decoder.hpp"

#include <cstring>
#include <memory>

#include "codec/png/inflate.hpp"
#include "codec/png/unfilter.hpp"
#include "core/warp.hpp"

namespace eckart::codec::png {
namespace {

Image unfilter(const ImageShape& shape, const std::byte* rows) {
  Image pixels(shape);
  const std::size_t row_bytes = std::size_t(shape.cols) * std::size_t(shape.channels);
  RowUnfilter unfilter(row_bytes, std::size_t(shape.channels));
  std::byte* to = pixels.data();
  for (int row = 0; row < shape.rows;) {
    const int count =
        unfilter.unfilter(rows + std::size_t(row) * (row_bytes + 1), shape.rows - row);
    for (int i = 0; i < count; ++i, to += row_bytes) std::memcpy(to, unfilter.row(i), row_bytes);
    row += count;
  }
  return pixels;
}

}  // namespace

bool is_within_limits(const EncodedImage& image) {
  return image.stream_bytes <= std::size_t(kMaxInflateBytes) &&
         image.row_bytes() <= std::size_t(kMaxInflatedBytes) / std::size_t(image.shape.rows);
}

std::variant<Image, Irregularity> decode(const EncodedImage& image) {
  const std::size_t size = std::size_t(image.shape.rows) * image.row_bytes();
  const auto rows = std::make_unique<std::byte[]>(size + RowUnfilter::kPaddingBytes);
  std::vector<std::uint32_t> words(padded_stream_bytes(image) / sizeof(std::uint32_t));
  copy_stream(image, reinterpret_cast<std::byte*>(words.data()));
  const auto memory = std::make_unique<InflateMemory>();
  HostWarp warp;
  const InflatedRows inflated{reinterpret_cast<std::uint8_t*>(rows.get()), image.shape.rows,
                              std::int32_t(image.row_bytes())};
  const Irregularity found =
      inflate(warp, {words.data(), std::int32_t(image.stream_bytes)}, inflated, *memory);
  if (found != Irregularity::none) return found;
  return unfilter(image.shape, rows.get());
}

}  // namespace eckart::codec::png
