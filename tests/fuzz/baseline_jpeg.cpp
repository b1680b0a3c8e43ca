// Decodes with the source that is compiled for the GPU, here for the CPU, and with libjpeg: it
// accepts no file that libjpeg refuses, and has its pixels.
#include <cstring>
#include <optional>
#include <variant>

#include "codec/deadline.hpp"
#include "codec/jpeg/decoder.hpp"
#include "codec/jpeg/header.hpp"
#include "codec/libjpeg_decoder.hpp"
#include "core/error.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using namespace eckart;

std::optional<Image> decode_with_libjpeg(std::span<const std::byte> file, const ImageShape& shape) {
  codec::Deadline deadline(fuzz::kLimits.decode_s);
  try {
    return codec::decode_with_libjpeg(file, shape, fuzz::kLimits, deadline);
  } catch (const ItemError&) {
    return std::nullopt;
  }
}

/// Only a file with too much metadata may be refused, for a reason that has no part in its pixels.
bool is_accepted_by_codec(std::span<const std::byte> file) {
  try {
    codec::codec_for(ImageFormat::jpeg).decode(file, fuzz::kLimits);
    return true;
  } catch (const ItemError& error) {
    return error.reason() == FailureReason::too_large;
  }
}

bool is_same(const std::variant<Image, codec::jpeg::Irregularity>& a,
             const std::variant<Image, codec::jpeg::Irregularity>& b) {
  const auto* image = std::get_if<Image>(&a);
  const auto* other = std::get_if<Image>(&b);
  if (image == nullptr || other == nullptr)
    return image == other && std::get<1>(a) == std::get<1>(b);
  return std::memcmp(image->data(), other->data(), image->bytes()) == 0;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using codec::jpeg::Irregularity;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  codec::jpeg::JpegHeader header;
  if (const Irregularity found = parse_header(file, header); found != Irregularity::none) {
    fuzz::note(to_string(found));
    return 0;
  }
  const ImageShape shape = header.shape();
  if (shape.samples() > std::size_t(3 * fuzz::kLimits.pixels)) return 0;
  const std::variant<Image, Irregularity> found = codec::jpeg::decode(file);
  for (const int segments : {3, 32}) {
    fuzz::require(is_same(codec::jpeg::decode(file, segments), found),
                  "the result does not depend on the number of segments");
  }
  if (const auto* irregularity = std::get_if<Irregularity>(&found)) {
    fuzz::note(to_string(*irregularity));
    return 0;
  }
  const Image& image = std::get<Image>(found);
  const std::optional<Image> expected = decode_with_libjpeg(file, shape);
  fuzz::require(expected.has_value(), "libjpeg accepts the file");
  fuzz::require(image.shape() == shape && expected->shape() == shape, "the shape is declared");
  fuzz::require(std::memcmp(image.data(), expected->data(), image.bytes()) == 0,
                "the pixels are those of libjpeg");
  fuzz::require(is_accepted_by_codec(file), "the strict decoder accepts the file");
  return 0;
}
