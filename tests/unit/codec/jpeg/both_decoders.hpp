#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <variant>

#include "codec/codec.hpp"
#include "codec/jpeg/decoder.hpp"
#include "core/error.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::codec::jpeg {

/// The pixels of the strict decoder, with libjpeg; nothing if it refuses the file.
inline std::optional<Image> decode_with_codec(const test::Bytes& file) {
  try {
    return codec_for(ImageFormat::jpeg).decode(file, {}).pixels;
  } catch (const ItemError&) {
    return std::nullopt;
  }
}

/// Decodes a file with this decoder and with libjpeg. Expects that the pixels are the same if this
/// decoder decodes it. Returns why it does not.
inline Irregularity decode_with_both(const test::Bytes& file) {
  const std::variant<Image, Irregularity> found = decode(file);
  if (const auto* irregularity = std::get_if<Irregularity>(&found)) return *irregularity;
  const std::optional<Image> expected = decode_with_codec(file);
  EXPECT_TRUE(expected) << "libjpeg refuses the file";
  EXPECT_TRUE(!expected || test::same(std::get<Image>(found), *expected));
  return Irregularity::none;
}

}  // namespace eckart::codec::jpeg
