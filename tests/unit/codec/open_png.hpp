#pragma once

#include "codec/codec.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

inline const codec::Codec& png() { return codec::codec_for(ImageFormat::png); }

/// What becomes of a file: its pixels, or an ItemError. The same from the header and from the
/// pixels.
inline Image open_png(const Bytes& file) {
  const codec::Codec& codec = codec::detect_codec(file);
  codec::admit(codec, file, {});
  return codec.decode(file, {}).pixels;
}

}  // namespace eckart::test
