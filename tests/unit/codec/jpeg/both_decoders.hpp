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

inline bool same_result(const std::variant<Image, Irregularity>& a,
                        const std::variant<Image, Irregularity>& b) {
  if (a.index() != b.index()) return false;
  if (const auto* image = std::get_if<Image>(&a)) return test::same(*image, std::get<Image>(b));
  return std::get<Irregularity>(a) == std::get<Irregularity>(b);
}

/// Decodes a file with this decoder and with libjpeg. Expects that the pixels are the same if this
/// decoder decodes it, with any number of segments. Returns why it does not.
inline Irregularity decode_with_both(const test::Bytes& file) {
  const std::variant<Image, Irregularity> found = decode(file);
  for (const int segments : {2, 5, 32})
    EXPECT_TRUE(same_result(decode(file, segments), found)) << segments << " segments";
  if (const auto* irregularity = std::get_if<Irregularity>(&found)) return *irregularity;
  const std::optional<Image> expected = decode_with_codec(file);
  EXPECT_TRUE(expected) << "libjpeg refuses the file";
  EXPECT_TRUE(!expected || test::same(std::get<Image>(found), *expected));
  return Irregularity::none;
}

}  // namespace eckart::codec::jpeg
