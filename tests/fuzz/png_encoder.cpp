// Fuzzes the encoder of PNG: its files must decode to the same pixels. The first bytes of an input
// are the shape of an image, and the others its samples, repeated.
#include <cstring>

#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/image_input.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace eckart;

bool same(const Image& a, const Image& b) {
  if (a.empty() || b.empty()) return a.empty() == b.empty();
  return a.shape() == b.shape() && std::memcmp(a.data(), b.data(), a.bytes()) == 0;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ImageInput input(data, size);
  const int kind = input.next();
  const Depth depth = (kind & 1) == 0 ? Depth::u8 : Depth::u16;
  const int channels = (kind & 2) == 0 ? 1 : 3;
  const bool has_alpha = (kind & 4) != 0, is_small = (kind & 8) != 0;
  const int rows = 1 + input.next() % 128, cols = 1 + (input.next() | (kind & 0x30) << 4) % 1024;
  const Image pixels = input.image({rows, cols, channels, depth});
  const Image alpha = has_alpha ? input.image({rows, cols, 1, depth}) : Image();
  const codec::Codec& codec = codec::codec_for(ImageFormat::png);
  const Metadata none;
  const auto file = codec.encode(PictureView(pixels, alpha, none),
                                 {.png = is_small ? PngCompression::small : PngCompression::fast});
  const Picture decoded = codec.decode(file, ImageLimits());
  fuzz::require(same(decoded.pixels, pixels) && same(decoded.alpha, alpha), "same pixels");
  return 0;
}
