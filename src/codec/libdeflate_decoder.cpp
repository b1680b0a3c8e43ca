#include "codec/libdeflate_decoder.hpp"

#include <libdeflate.h>

#include <algorithm>
#include <memory>
#include <new>
#include <span>

#include "codec/alpha.hpp"
#include "codec/png/unfilter.hpp"
#include "codec/png_chunk.hpp"

namespace eckart::codec {
namespace {

using Buffer = std::unique_ptr<std::byte[]>;

/// The zlib stream in IDAT chunks.
struct ZlibStream {
  std::span<const std::byte> bytes;
  Buffer copy;  ///< if it is in several chunks
};

/// Returns nullopt if a chunk has a wrong CRC.
std::optional<ZlibStream> read_stream(std::span<const std::byte> chunks) {
  ZlibStream stream;
  std::size_t size = 0;
  while (!chunks.empty()) {
    const std::span<const std::byte> chunk = first_chunk(chunks);
    if (!has_valid_crc(chunk)) return std::nullopt;
    const std::span<const std::byte> data = data_of_chunk(chunk);
    const bool is_only_chunk = size == 0 && chunk.size() == chunks.size();
    if (is_only_chunk) return ZlibStream{data, {}};
    if (!stream.copy) stream.copy = std::make_unique_for_overwrite<std::byte[]>(chunks.size());
    std::ranges::copy(data, stream.copy.get() + size);
    size += data.size();
    chunks = chunks.subspan(chunk.size());
  }
  stream.bytes = {stream.copy.get(), size};
  return stream;
}

/// libdeflate cannot be interrupted. The rows limit what it writes, but not how often it reads
/// another Huffman code. On a CPU of 2024, it takes at most 200 ns for a byte of input, in blocks
/// that hold nothing but their codes, and 2 ns for a byte of output.
bool can_inflate_in_time(std::size_t stream_bytes, std::size_t row_bytes, Deadline& deadline) {
  constexpr std::size_t kMaxNsPerInputByte = 500, kMaxNsPerOutputByte = 10;
  return deadline.has_left(
      std::int64_t(kMaxNsPerInputByte * stream_bytes + kMaxNsPerOutputByte * row_bytes));
}

/// Returns the filtered rows, with padding for png::RowUnfilter; null if they are damaged, or could
/// take too long.
Buffer inflate_rows(const PngParts& parts, Deadline& deadline) {
  const std::optional<ZlibStream> stream = read_stream(parts.idat);
  if (!stream || !can_inflate_in_time(stream->bytes.size(), parts.row_bytes, deadline)) return {};
  const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> decompressor(
      libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
  if (!decompressor) throw std::bad_alloc();
  Buffer rows = std::make_unique_for_overwrite<std::byte[]>(parts.row_bytes +
                                                            png::RowUnfilter::kPaddingBytes);
  std::fill_n(rows.get() + parts.row_bytes, png::RowUnfilter::kPaddingBytes, std::byte(0));
  // Without a place for the size of the output, fewer bytes are an error.
  const libdeflate_result result =
      libdeflate_zlib_decompress(decompressor.get(), stream->bytes.data(), stream->bytes.size(),
                                 rows.get(), parts.row_bytes, nullptr);
  return result == LIBDEFLATE_SUCCESS ? std::move(rows) : Buffer();
}

/// Returns a sample of a file, which is in big-endian order.
template <class T>
T sample_at(const std::byte* from) {
  if constexpr (sizeof(T) == 1) return T(*from);
  return T(unsigned(from[0]) << 8 | unsigned(from[1]));
}

/// The place of a row of samples in memory.
template <class T>
struct RowPlace {
  T* pixels;
  T* alpha;  ///< null if the row has none
};

template <class T, int kChannels>
void split_row(const std::byte* from, int cols, RowPlace<T> to) {
  for (int col = 0; col < cols; ++col) {
    for (int c = 0; c < kChannels; ++c, from += sizeof(T)) *to.pixels++ = sample_at<T>(from);
    *to.alpha++ = sample_at<T>(from);
    from += sizeof(T);
  }
}

template <class T>
void copy_row(const std::byte* from, const ImageShape& shape, RowPlace<T> to) {
  if (to.alpha != nullptr)
    return shape.channels == 1 ? split_row<T, 1>(from, shape.cols, to)
                               : split_row<T, 3>(from, shape.cols, to);
  const std::size_t samples = std::size_t(shape.cols) * std::size_t(shape.channels);
  for (std::size_t i = 0; i < samples; ++i) to.pixels[i] = sample_at<T>(from + i * sizeof(T));
}

/// Writes the samples of all rows. `filtered` and `pixels` may be the same, because a row is
/// written after it was unfiltered, and is shorter by its filter byte. Returns false if a filter is
/// invalid.
template <class T>
bool unfilter_rows(const PngParts& parts, Deadline& deadline, const std::byte* filtered,
                   std::byte* pixels, std::byte* alpha) {
  const ImageShape& shape = parts.shape;
  const std::size_t row_bytes = std::size_t(shape.cols) * parts.pixel_bytes;
  png::RowUnfilter unfilter(row_bytes, parts.pixel_bytes);
  RowPlace<T> to{reinterpret_cast<T*>(pixels), reinterpret_cast<T*>(alpha)};
  for (int row = 0; row < shape.rows;) {
    if (deadline.passed()) deadline.throw_too_large();
    const int count =
        unfilter.unfilter(filtered + std::size_t(row) * (row_bytes + 1), shape.rows - row);
    if (count == 0) return false;
    for (int i = 0; i < count; ++i) {
      copy_row(unfilter.row(i), shape, to);
      to.pixels += std::size_t(shape.cols) * std::size_t(shape.channels);
      if (to.alpha != nullptr) to.alpha += shape.cols;
    }
    row += count;
  }
  return true;
}

}  // namespace

std::size_t libdeflate_decode_bytes(const LibdeflateInput& input, bool is_rotated) {
  const std::size_t alpha = input.has_alpha ? alpha_shape(input.shape).bytes() : 0;
  // Without an alpha channel, the pixels take the place of the rows.
  const std::size_t pixels = input.has_alpha_channel ? input.shape.bytes() : input.row_bytes;
  const std::size_t rows = input.has_alpha_channel ? input.row_bytes : 0;
  return std::max(input.row_bytes + input.stream_copy_bytes,
                  pixels + alpha + std::max(rows, is_rotated ? input.shape.bytes() : 0));
}

std::optional<Picture> decode_with_libdeflate(const PngParts& parts, Deadline& deadline) {
  if (parts.pixel_bytes == 0 || parts.idat.size() > max_idat_bytes(parts.row_bytes))
    return std::nullopt;
  Buffer rows = inflate_rows(parts, deadline);
  if (!rows) return std::nullopt;
  Picture picture;
  std::byte* pixels = rows.get();
  if (parts.alpha == PngAlpha::channel) {
    picture.pixels = Image(parts.shape);
    picture.alpha = Image(alpha_shape(parts.shape));
    pixels = picture.pixels.data();
  }
  const auto unfilter =
      parts.shape.depth == Depth::u8 ? unfilter_rows<std::uint8_t> : unfilter_rows<std::uint16_t>;
  if (!unfilter(parts, deadline, rows.get(), pixels, picture.alpha.data())) return std::nullopt;
  if (picture.pixels.empty()) picture.pixels = Image(parts.shape, std::move(rows));
  if (!parts.transparent_color.empty())
    picture.alpha = alpha_of_color(picture.pixels, parts.transparent_color);
  return picture;
}

}  // namespace eckart::codec
