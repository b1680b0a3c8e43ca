#pragma once

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "tests/unit/codec/make_metadata.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

inline constexpr ImageShape kMetadataShape{24, 16, 3, Depth::u8};

inline Metadata all_metadata() {
  return {.icc = make_icc(),
          .exif = make_exif({.orientation = 1, .has_thumbnail = false}),
          .xmp = as_bytes("<x:xmpmeta>text</x:xmpmeta>"),
          .density = PixelDensity{11811, 5906}};
}

/// A file of an image of kMetadataShape.
inline Bytes encode_with(ImageFormat format, const Metadata& metadata,
                         const EncodeOptions& options = {},
                         const std::vector<TextEntry>& texts = {}) {
  const Image image = noise_image(kMetadataShape), no_alpha;
  return codec::codec_for(format).encode(PictureView(image, no_alpha, metadata, texts), options);
}

/// Also checks that the pixels are read, and that the metadata is within the limit of the header.
inline Metadata read_metadata(const Bytes& file, Decoder decoder = Decoder::strict,
                              const ImageLimits& limits = {}) {
  const codec::Codec& codec = codec::detect_codec(file, decoder);
  Picture picture = codec.decode(file, limits);
  EXPECT_FALSE(picture.pixels.empty());
  EXPECT_LE(picture.metadata.bytes(), codec.read_header(file).max_metadata_bytes);
  return std::move(picture.metadata);
}

}  // namespace eckart::test
