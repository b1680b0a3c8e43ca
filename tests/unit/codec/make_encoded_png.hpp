#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstring>
#include <random>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "codec/png/encoded_image.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// How zlib compresses.
struct ZlibOptions {
  int level = 6;
  int strategy = Z_DEFAULT_STRATEGY;
  int memory_level = 8;  ///< 1 to 9; a block has up to 2^(this + 6) codes
};

inline Bytes compress(std::span<const std::byte> bytes, const ZlibOptions& options) {
  z_stream stream{};
  if (deflateInit2(&stream, options.level, Z_DEFLATED, 15, options.memory_level,
                   options.strategy) != Z_OK)
    throw std::invalid_argument("zlib refuses these options");
  Bytes compressed(deflateBound(&stream, bytes.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(bytes.data()));
  stream.avail_in = uInt(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(compressed.data());
  stream.avail_out = uInt(compressed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) throw std::runtime_error("zlib did not finish");
  compressed.resize(stream.total_out);
  deflateEnd(&stream);
  return compressed;
}

/// What the rows of an image look like.
enum class RowContents { noise, gradient, flat, stripes, text };
inline constexpr RowContents kAllRowContents[] = {RowContents::noise, RowContents::gradient,
                                                  RowContents::flat, RowContents::stripes,
                                                  RowContents::text};

/// Filtered rows, each behind its filter byte. Row i has filter i modulo 5, or the first one in all
/// rows of the kind `flat`.
inline Bytes make_rows(const ImageShape& shape, RowContents contents) {
  std::mt19937 random(std::uint32_t(shape.rows * 7 + shape.cols));
  Bytes rows;
  const int row_bytes = shape.cols * shape.channels;
  for (int row = 0; row < shape.rows; ++row) {
    rows.push_back(std::byte(contents == RowContents::flat ? 0 : row % 5));
    for (int i = 0; i < row_bytes; ++i) {
      const int value = [&] {
        switch (contents) {
          case RowContents::noise:
            return int(random() & 255);
          case RowContents::gradient:
            return (row + i) / 3 + int(random() & 3);
          case RowContents::flat:
            return 17;
          case RowContents::stripes:
            return row / 9 % 2 == 0 ? i % 7 : 200 + int(random() % 3);
          case RowContents::text:
            return int(std::string_view("the quick brown fox ")[(i + random() % 2) % 20]);
        }
        return 0;
      }();
      rows.push_back(std::byte(value & 255));
    }
  }
  return rows;
}

/// An encoded image, and its stream.
struct EncodedPng {
  ImageShape shape;
  Bytes stream;

  operator codec::png::EncodedImage() const { return {shape, {stream}, stream.size()}; }
};

inline EncodedPng make_encoded_png(const ImageShape& shape, RowContents contents,
                                   const ZlibOptions& options) {
  return {shape, compress(make_rows(shape, contents), options)};
}

/// Images whose streams have blocks of every kind.
inline std::vector<EncodedPng> encoded_pngs_of_every_kind() {
  std::vector<EncodedPng> images;
  for (const auto& [rows, cols] : {std::pair(1, 1), {3, 2}, {33, 70}, {208, 176}, {64, 500}}) {
    for (const int channels : {1, 3}) {
      const ImageShape shape{rows, cols, channels, Depth::u8};
      for (const RowContents contents : kAllRowContents) {
        for (const int level : {0, 1, 6, 9}) {
          images.push_back(make_encoded_png(shape, contents, {.level = level}));
        }
        for (const int strategy : {Z_FILTERED, Z_HUFFMAN_ONLY, Z_RLE, Z_FIXED}) {
          images.push_back(make_encoded_png(shape, contents,
                                            {.strategy = strategy, .memory_level = 5 + rows % 5}));
        }
      }
    }
  }
  return images;
}

}  // namespace eckart::test
