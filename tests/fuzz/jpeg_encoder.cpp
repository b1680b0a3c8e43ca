// Encodes with the source that is compiled for the GPU, here for the CPU, and with libjpeg: the
// files are the same, and their error is known. The first bytes of an input are the quality and the
// shape of an image, and the others its samples, repeated.
#include <optional>
#include <vector>

#include "codec/jpeg/encoder.hpp"
#include "codec/jpeg/standard_tables.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/image_input.hpp"
#include "tests/fuzz/target.hpp"
#include "tests/support/file_around.hpp"

namespace {

using namespace eckart;

std::uint64_t squared_error(const Image& a, const Image& b) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < a.bytes(); ++i) {
    const int difference = int(a.data()[i]) - int(b.data()[i]);
    sum += std::uint64_t(difference * difference);
  }
  return sum;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::ImageInput input(data, size);
  const int kind = input.next(), quality = 1 + input.next() % 100;
  const int channels = (kind & 1) == 0 ? 1 : 3;
  const ChromaSubsampling subsampling{(kind & 2) == 0 ? 1 : 2, (kind & 4) == 0 ? 1 : 2};
  const int rows = 1 + input.next() % 128, cols = 1 + (input.next() | (kind & 0x30) << 4) % 1024;
  const Image pixels = input.image({rows, cols, channels, Depth::u8});
  const codec::Codec& codec = codec::codec_for(ImageFormat::jpeg);
  Metadata metadata;
  metadata.subsampling = subsampling;
  const Image opaque;
  const PictureView picture(pixels, opaque, metadata);
  const EncodeOptions options{.jpeg_quality = quality};
  const std::vector<std::byte> expected = codec.encode(picture, options);

  const auto layout = codec::jpeg::encoding_layout(pixels.shape(), subsampling);
  const codec::jpeg::EncodedScan scan =
      encode_scan(pixels, pixels, layout.value(),
                  build_encoding_tables(codec::jpeg::standard_tables(quality, channels)));
  fuzz::require(
      test::file_around(scan.data, codec.encode_head_and_tail(picture, options)) == expected,
      "the file of libjpeg");
  if (!scan.squared_error) {
    fuzz::note("a value out of range");
    return 0;
  }
  const Image decoded = codec.decode(expected, ImageLimits()).pixels;
  fuzz::require(*scan.squared_error == squared_error(pixels, decoded), "the error of the file");
  return 0;
}
