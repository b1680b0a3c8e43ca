#pragma once

#include "io/codec.hpp"
#include "tests/unit/io/test_images.hpp"

namespace eckart::test {

inline const io::Codec& png() { return io::codec_for(ImageFormat::png); }

/// What becomes of a file: its pixels, or an ItemError. The same from the header and from the
/// pixels.
inline Image open_png(const Bytes& file) {
  const io::Codec& codec = io::detect_codec(file);
  io::admit(codec, file, {});
  return codec.decode(file, {}).pixels;
}

}  // namespace eckart::test
