// PNG (third edition), 9: filters; 11: chunks.
#include "codec/png_encoder.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>

#include "codec/deflate.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_chunk_writer.hpp"
#include "codec/png_ihdr.hpp"
#include "codec/png_metadata.hpp"

namespace eckart::codec {
namespace {

using Row = std::vector<std::uint8_t>;

/// The codes of filters, which are the first byte of a row.
enum Filter : std::uint8_t { kNone, kSub, kUp, kAverage, kPaeth };

/// Copies samples of one row, with alpha behind the other channels, in big-endian order.
template <class T>
void copy_samples(const PictureView& picture, int row, std::uint8_t* to) {
  const ImageShape& shape = picture.pixels.shape();
  const auto channels = std::size_t(shape.channels);
  const auto put = [&](T sample) {
    if constexpr (sizeof(T) == 2) *to++ = std::uint8_t(sample >> 8);
    *to++ = std::uint8_t(sample & 0xFF);
  };
  const T* sample = reinterpret_cast<const T*>(picture.pixels.data()) +
                    std::size_t(row) * std::size_t(shape.cols) * channels;
  const std::size_t samples = std::size_t(shape.cols) * channels;
  if (!picture.has_alpha()) {
    if constexpr (sizeof(T) == 1) {
      std::memcpy(to, sample, samples);
    } else {
      std::for_each_n(sample, samples, put);
    }
    return;
  }
  const T* alpha = reinterpret_cast<const T*>(picture.alpha->data()) +
                   std::size_t(row) * std::size_t(shape.cols);
  for (int col = 0; col < shape.cols; ++col) {
    for (std::size_t c = 0; c < channels; ++c) put(*sample++);
    put(*alpha++);
  }
}

/// The rows of a file, with `pixel_bytes` zeros before each for its left neighbors.
class FileRows {
 public:
  explicit FileRows(const PictureView& picture)
      : picture_(picture),
        pixel_bytes_(std::size_t(picture.pixels.shape().channels + picture.has_alpha()) *
                     std::size_t(picture.pixels.shape().depth)),
        row_bytes_(std::size_t(picture.pixels.shape().cols) * pixel_bytes_),
        row_(pixel_bytes_ + row_bytes_),
        above_(row_.size()) {}

  std::size_t pixel_bytes() const { return pixel_bytes_; }
  std::size_t row_bytes() const { return row_bytes_; }
  const std::uint8_t* row() const { return row_.data() + pixel_bytes_; }
  const std::uint8_t* above() const { return above_.data() + pixel_bytes_; }

  void next() {
    row_.swap(above_);
    if (picture_.pixels.shape().depth == Depth::u8) {
      copy_samples<std::uint8_t>(picture_, next_++, row_.data() + pixel_bytes_);
    } else {
      copy_samples<std::uint16_t>(picture_, next_++, row_.data() + pixel_bytes_);
    }
  }

 private:
  const PictureView& picture_;
  std::size_t pixel_bytes_, row_bytes_;
  Row row_, above_;
  int next_ = 0;
};

std::int16_t distance(std::int16_t a, std::int16_t b) {
  return std::int16_t(a > b ? a - b : b - a);
}

/// Predicts in 16 bits and without branches, so that the compiler makes vector instructions of it.
struct Paeth {
  std::uint8_t operator()(std::int16_t left, std::int16_t above, std::int16_t above_left) const {
    const std::int16_t sum = std::int16_t(left + above), twice = std::int16_t(2 * above_left);
    const std::int16_t to_left = distance(above, above_left), to_above = distance(left, above_left),
                       to_above_left = distance(sum, twice);
    const std::int16_t vertical = to_above <= to_above_left ? above : above_left;
    const std::int16_t nearest = to_above <= to_above_left ? to_above : to_above_left;
    return std::uint8_t(to_left <= nearest ? left : vertical);
  }
};

template <class Predict>
void write_residuals(const FileRows& rows, std::uint8_t* __restrict to, const Predict& predict) {
  const std::uint8_t* const row = rows.row();
  const std::uint8_t* const above = rows.above();
  const std::uint8_t* const left = row - rows.pixel_bytes();
  const std::uint8_t* const above_left = above - rows.pixel_bytes();
  const std::size_t bytes = rows.row_bytes();
  for (std::size_t i = 0; i < bytes; ++i)
    to[i] = std::uint8_t(row[i] - predict(left[i], above[i], above_left[i]));
}

/// Writes the residuals of the current row with one filter.
void filter_row(const FileRows& rows, Filter filter, std::uint8_t* to) {
  switch (filter) {
    case kNone:
      return write_residuals(rows, to, [](int, int, int) { return 0; });
    case kSub:
      return write_residuals(rows, to, [](int left, int, int) { return left; });
    case kUp:
      return write_residuals(rows, to, [](int, int above, int) { return above; });
    case kAverage:
      return write_residuals(rows, to, [](int left, int above, int) { return (left + above) / 2; });
    case kPaeth:
      return write_residuals(rows, to, Paeth());
  }
}

/// The sum of the residuals as signed numbers: the usual estimate of the compressed size.
std::uint64_t cost(std::span<const std::uint8_t> residuals) {
  std::uint64_t sum = 0;
  for (const std::uint8_t residual : residuals)
    sum += std::uint64_t(std::abs(int(std::int8_t(residual))));
  return sum;
}

/// Writes the filter of a row and its residuals: always Paeth, or the filter of the lowest cost.
void write_row(const FileRows& rows, PngCompression compression, Row& scratch, std::uint8_t* to) {
  to[0] = kPaeth;
  filter_row(rows, kPaeth, to + 1);
  if (compression == PngCompression::fast) return;
  std::uint64_t lowest = cost({to + 1, rows.row_bytes()});
  for (const Filter filter : {kNone, kSub, kUp, kAverage}) {
    filter_row(rows, filter, scratch.data());
    const std::uint64_t found = cost(scratch);
    if (found >= lowest) continue;
    lowest = found;
    to[0] = filter;
    std::ranges::copy(scratch, to + 1);
  }
}

std::vector<std::byte> filtered_rows(const PictureView& picture, PngCompression compression) {
  FileRows rows(picture);
  Row scratch(rows.row_bytes());
  const std::size_t stride = 1 + rows.row_bytes();
  const int count = picture.pixels.shape().rows;
  std::vector<std::byte> filtered(stride * std::size_t(count));
  auto* to = reinterpret_cast<std::uint8_t*>(filtered.data());
  for (int row = 0; row < count; ++row, to += stride) {
    rows.next();
    write_row(rows, compression, scratch, to);
  }
  return filtered;
}

void append_ihdr(std::vector<std::byte>& file, const PictureView& picture) {
  const ImageShape& shape = picture.pixels.shape();
  const int gray = picture.has_alpha() ? PngColorType::kGrayAlpha : PngColorType::kGray;
  const int rgb = picture.has_alpha() ? PngColorType::kRgbAlpha : PngColorType::kRgb;
  std::vector<std::byte> data;
  append_big_endian_32(data, std::uint32_t(shape.cols));
  append_big_endian_32(data, std::uint32_t(shape.rows));
  data.push_back(std::byte(8 * int(shape.depth)));
  data.push_back(std::byte(shape.channels == 1 ? gray : rgb));
  data.resize(13);  // the only methods of compression and filters; not interlaced
  append_png_chunk(file, "IHDR", data);
}

}  // namespace

std::vector<std::byte> encode_png(const PictureView& picture, PngCompression compression) {
  constexpr int kFastLevel = 1, kSmallLevel = 12;  // of libdeflate
  constexpr std::size_t kMaxChunkBytes = 65536;    // so that readers can use a truncated file
  std::vector<std::byte> file;
  const std::vector<std::byte> stream =
      compress_zlib(filtered_rows(picture, compression),
                    compression == PngCompression::fast ? kFastLevel : kSmallLevel);
  file.reserve(stream.size() + 1024);
  append(file, kPngSignature);
  append_ihdr(file, picture);
  if (picture.metadata != nullptr) append_png_metadata(file, *picture.metadata);
  append_png_texts(file, picture.texts);
  for (std::span<const std::byte> rest = stream; !rest.empty();) {
    const std::size_t size = std::min(rest.size(), kMaxChunkBytes);
    append_png_chunk(file, "IDAT", rest.first(size));
    rest = rest.subspan(size);
  }
  append_png_chunk(file, "IEND", {});
  return file;
}

}  // namespace eckart::codec
