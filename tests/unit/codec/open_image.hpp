#pragma once

#include <gtest/gtest.h>

#include <string_view>
#include <utility>

#include "codec/codec.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Decodes a file of this format, and compares the picture with its header. Throws ItemError.
inline Picture open_image(ImageFormat format, const Bytes& file) {
  const codec::Codec& codec = codec::detect_codec(file);
  EXPECT_EQ(codec.format, format);
  const codec::Header header = codec::admit(codec, file, {});
  Picture picture = codec.decode(file, {});
  ImageShape turned = header.shape;
  std::swap(turned.rows, turned.cols);
  EXPECT_TRUE(picture.pixels.shape() == header.shape || picture.pixels.shape() == turned);
  EXPECT_EQ(header.may_have_alpha, !picture.alpha.empty());
  return picture;
}

}  // namespace eckart::test
