// What the GPU decodes of a PNG.
#include "codec/encoded_png.hpp"

#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "codec/png/decoder.hpp"
#include "codec/png_contents.hpp"
#include "tests/unit/codec/open_png.hpp"
#include "tests/unit/codec/png_maker.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec {
namespace {

using test::Bytes;
using test::noise_image;
using test::png;
using test::PngMaker;

/// Refers to the file.
std::optional<png::EncodedImage> read(const Bytes& file) {
  return read_encoded_png(read_png_contents(file).parts);
}

TEST(EncodedPng, decodes_to_the_pixels_of_the_file) {
  for (const int channels : {1, 3}) {
    const Image image = noise_image({70, 90, channels, Depth::u8});
    for (const PngCompression compression : {PngCompression::fast, PngCompression::small}) {
      EncodeOptions options;
      options.png = compression;
      const Bytes file = png().encode(image, options);
      const std::optional<png::EncodedImage> encoded = read(file);
      ASSERT_TRUE(encoded);
      const auto decoded = png::decode(*encoded);
      ASSERT_TRUE(std::holds_alternative<Image>(decoded));
      EXPECT_TRUE(test::same(std::get<Image>(decoded), image));
    }
  }
}

/// A stored block with one pixel.
std::string one_pixel() {
  using namespace std::string_literals;
  return "\x78\1\1\2\0\xFD\xFF\0\7\0\x9\0\x8"s;
}

TEST(EncodedPng, joins_the_chunks_of_a_stream) {
  const std::string stream = one_pixel();
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    PngMaker maker(1, 1, 8, 0);
    for (std::size_t at = 0; at < stream.size(); at += piece)
      maker.chunk("IDAT", std::string_view(stream).substr(at, piece));
    const Bytes file = maker.end();
    const std::optional<png::EncodedImage> encoded = read(file);
    ASSERT_TRUE(encoded);
    EXPECT_EQ(encoded->stream_bytes, stream.size());
    EXPECT_TRUE(std::holds_alternative<Image>(png::decode(*encoded)));
    std::string copy(png::padded_stream_bytes(*encoded), 'x');
    png::copy_stream(*encoded, reinterpret_cast<std::byte*>(copy.data()));
    EXPECT_EQ(copy, stream + std::string(copy.size() - stream.size(), '\0'));
    EXPECT_EQ(copy.size(), 16u) << "whole words";
  }
}

TEST(EncodedPng, is_nothing_if_only_the_cpu_decodes_the_file) {
  const std::string stream = one_pixel();
  const auto with = [&](int bits, int color_type, int interlace) {
    PngMaker maker(1, 1, bits, color_type, interlace);
    if (color_type == 3) maker.chunk("PLTE", "abc");
    return maker.chunk("IDAT", stream).end();
  };
  EXPECT_TRUE(read(with(8, 0, 0)));
  EXPECT_TRUE(read(with(8, 2, 0)));
  EXPECT_FALSE(read(with(8, 0, 1))) << "interlaced";
  EXPECT_FALSE(read(with(16, 0, 0)));
  EXPECT_FALSE(read(with(4, 0, 0)));
  EXPECT_FALSE(read(with(8, 3, 0))) << "palette";
  EXPECT_FALSE(read(with(8, 4, 0))) << "alpha";
  PngMaker transparent(1, 1, 8, 0);
  transparent.chunk("tRNS", std::string(2, '\0')).chunk("IDAT", stream);
  EXPECT_FALSE(read(transparent.end())) << "transparent color";
  Bytes damaged = with(8, 0, 0);
  damaged[damaged.size() - 13] ^= std::byte(1);
  EXPECT_FALSE(read(damaged)) << "CRC of the last chunk of the stream";
}

/// Their list would take more memory than the file.
TEST(EncodedPng, is_nothing_with_very_many_small_chunks) {
  const auto with_chunks = [](int count) {
    PngMaker maker(100, 100, 8, 0);
    for (int i = 0; i < count; ++i) maker.chunk("IDAT", "x");
    return maker.end();
  };
  EXPECT_TRUE(read(with_chunks(60)));
  EXPECT_FALSE(read(with_chunks(200)));
}

TEST(EncodedPng, is_nothing_without_data) {
  EXPECT_FALSE(read(PngMaker(1, 1, 8, 0).chunk("IDAT", "").end()));
}

TEST(EncodedPng, is_nothing_if_the_stream_is_much_larger_than_the_rows) {
  const std::string longest(1024, 'x');
  EXPECT_TRUE(read(PngMaker(1, 1, 8, 0).chunk("IDAT", longest.substr(0, 1000)).end()));
  EXPECT_FALSE(read(PngMaker(1, 1, 8, 0).chunk("IDAT", longest).end()));
}

}  // namespace
}  // namespace eckart::codec
