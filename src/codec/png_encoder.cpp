// PNG (third edition), 11: chunks.
#include "codec/png_encoder.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "codec/deflate.hpp"
#include "codec/png/filter.hpp"
#include "codec/png/idat_chunks.hpp"
#include "codec/png_chunk_reader.hpp"
#include "codec/png_chunk_writer.hpp"
#include "codec/png_ihdr.hpp"
#include "codec/png_metadata.hpp"

namespace eckart::codec {
namespace {

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

/// The rows of a picture as bytes of the file.
class FileRows {
 public:
  explicit FileRows(const PictureView& picture)
      : picture_(picture),
        pixel_bytes_(std::size_t(picture.pixels.shape().channels + picture.has_alpha()) *
                     std::size_t(picture.pixels.shape().depth)),
        row_bytes_(std::size_t(picture.pixels.shape().cols) * pixel_bytes_),
        above_(row_bytes_),
        is_stored_(picture.pixels.shape().depth == Depth::u8 && !picture.has_alpha()) {
    if (!is_stored_) row_.resize(row_bytes_);
  }

  std::size_t row_bytes() const { return row_bytes_; }

  /// Returns the next row, valid until the next call.
  png::Row next() {
    const std::size_t row = next_++;
    const auto* const pixels = reinterpret_cast<const std::uint8_t*>(picture_.pixels.data());
    if (is_stored_) {  // in this form
      const std::uint8_t* const bytes = pixels + row * row_bytes_;
      return {bytes, row == 0 ? above_.data() : bytes - row_bytes_, row_bytes_, pixel_bytes_};
    }
    if (row > 0) row_.swap(above_);
    if (picture_.pixels.shape().depth == Depth::u8) {
      copy_samples<std::uint8_t>(picture_, int(row), row_.data());
    } else {
      copy_samples<std::uint16_t>(picture_, int(row), row_.data());
    }
    return {row_.data(), above_.data(), row_bytes_, pixel_bytes_};
  }

 private:
  const PictureView& picture_;
  std::size_t pixel_bytes_, row_bytes_;
  std::vector<std::uint8_t> row_, above_;
  bool is_stored_;
  std::size_t next_ = 0;
};

/// The sum of the residuals as signed numbers: the usual estimate of the compressed size.
std::uint64_t cost(std::span<const std::uint8_t> residuals) {
  std::uint64_t sum = 0;
  for (const std::uint8_t residual : residuals)
    sum += std::uint64_t(std::abs(int(std::int8_t(residual))));
  return sum;
}

/// The rows with their filters, as they are compressed.
class FilteredRows {
 public:
  enum class Choice { paeth, lowest_cost };

  FilteredRows(const PictureView& picture, Choice choice) {
    FileRows rows(picture);
    const std::size_t stride = 1 + rows.row_bytes(),
                      count = std::size_t(picture.pixels.shape().rows);
    size_ = stride * count;
    bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(size_);
    std::vector<std::uint8_t> scratch(choice == Choice::paeth ? 0 : rows.row_bytes());
    for (std::size_t i = 0; i < count; ++i) {
      const png::Row row = rows.next();
      std::uint8_t* const to = &bytes_[i * stride];
      write(row, png::Filter::paeth, to);
      if (choice == Choice::lowest_cost) write_if_better(row, scratch, to);
    }
  }

  std::span<const std::uint8_t> bytes() const { return {bytes_.get(), size_}; }

 private:
  static void write(const png::Row& row, png::Filter filter, std::uint8_t* to) {
    to[0] = std::uint8_t(filter);
    filter_row(row, filter, to + 1);
  }

  static void write_if_better(const png::Row& row, std::vector<std::uint8_t>& scratch,
                              std::uint8_t* to) {
    using png::Filter;
    std::uint64_t lowest = cost({to + 1, row.size});
    for (const Filter filter : {Filter::none, Filter::sub, Filter::up, Filter::average}) {
      filter_row(row, filter, scratch.data());
      const std::uint64_t found = cost(scratch);
      if (found >= lowest) continue;
      lowest = found;
      to[0] = std::uint8_t(filter);
      std::ranges::copy(scratch, to + 1);
    }
  }

  std::size_t size_;
  std::unique_ptr<std::uint8_t[]> bytes_;
};

std::vector<std::byte> idat_chunks(std::span<const std::uint8_t> rows) {
  std::vector<std::byte> chunks;
  png::append_idat_chunks(rows, chunks);
  return chunks;
}

/// As idat_chunks(), but by libdeflate, which takes its time.
std::vector<std::byte> slow_idat_chunks(std::span<const std::uint8_t> rows) {
  constexpr int kLevel = 12;
  constexpr std::size_t kMaxChunkBytes = std::size_t(1) << 30;  // readers need less than 2^31
  std::vector<std::byte> chunks;
  const std::vector<std::byte> stream = compress_zlib(std::as_bytes(rows), kLevel);
  for (std::span<const std::byte> rest = stream; !rest.empty();) {
    const std::size_t size = std::min(rest.size(), kMaxChunkBytes);
    append_png_chunk(chunks, "IDAT", rest.first(size));
    rest = rest.subspan(size);
  }
  return chunks;
}

/// Appends the rows as `fast` does, or the smallest of three ways of which that is one.
void append_rows(std::vector<std::byte>& file, const PictureView& picture,
                 PngCompression compression) {
  std::vector<std::byte> smallest;
  {
    const FilteredRows rows(picture, FilteredRows::Choice::paeth);
    if (compression == PngCompression::fast) return png::append_idat_chunks(rows.bytes(), file);
    smallest = idat_chunks(rows.bytes());
  }
  const auto keep_smaller = [&](std::vector<std::byte> chunks) {
    if (chunks.size() < smallest.size()) smallest = std::move(chunks);
  };
  {
    const FilteredRows chosen(picture, FilteredRows::Choice::lowest_cost);
    keep_smaller(idat_chunks(chosen.bytes()));
    keep_smaller(slow_idat_chunks(chosen.bytes()));
  }
  append(file, smallest);
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

/// Returns everything before the IDAT chunks.
std::vector<std::byte> encode_head(const PictureView& picture) {
  constexpr std::size_t kUsualBytes = 512;
  std::vector<std::byte> head;
  head.reserve(kUsualBytes);
  append(head, kPngSignature);
  append_ihdr(head, picture);
  if (picture.metadata != nullptr) append_png_metadata(head, *picture.metadata);
  append_png_texts(head, picture.texts);
  return head;
}

}  // namespace

std::vector<std::byte> encode_png(const PictureView& picture, PngCompression compression) {
  std::vector<std::byte> file = encode_head(picture);
  append_rows(file, picture, compression);
  append_png_chunk(file, "IEND", {});
  return file;
}

HeadAndTail encode_png_head_and_tail(const PictureView& picture) {
  HeadAndTail ends{encode_head(picture), {}};
  append_png_chunk(ends.tail, "IEND", {});
  return ends;
}

}  // namespace eckart::codec
