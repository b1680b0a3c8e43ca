#include <optional>
#include <variant>

#include "codec/deadline.hpp"
#include "codec/encoded_png.hpp"
#include "codec/libdeflate_decoder.hpp"
#include "codec/png/decoder.hpp"
#include "codec/png_contents.hpp"
#include "codec/spng_decoder.hpp"
#include "core/error.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

namespace eckart::fuzz {
namespace {

/// Returns whether zlib refuses what libdeflate accepts: codes that do not exist, and lengths of
/// codes beyond the last symbol. They have one meaning, and the Adler-32 shows that it is the right
/// one.
bool is_known_difference(std::string_view why) {
  for (const std::string_view reason :
       {"invalid distance code", "invalid literal/length code",
        "too many length or distance symbols", "invalid bit length repeat"}) {
    if (why.find(reason) != why.npos) return true;
  }
  return false;
}

/// Checks that the source that is compiled for the GPU, here for the CPU, accepts no file that
/// libdeflate refuses, and has its pixels.
void compare_with_gpu(const codec::PngParts& parts, const std::optional<Picture>& picture) {
  const auto encoded = codec::read_encoded_png(parts);
  if (!encoded) return;
  const auto found = codec::png::decode(*encoded);
  if (const auto* irregularity = std::get_if<codec::png::Irregularity>(&found))
    return note(to_string(*irregularity));
  require(picture.has_value(), "libdeflate accepts what the GPU accepts");
  require(same_pixels(std::get<Image>(found), picture->pixels), "the GPU has the same pixels");
}

/// Checks that libspng gives the same samples as libdeflate, and so does the GPU.
void compare_decoders(std::span<const std::byte> file) try {
  const codec::PngContents contents = codec::read_png_contents(file);
  codec::Deadline deadline(kLimits.decode_s);
  const auto picture = codec::decode_with_libdeflate(contents.parts, deadline);
  compare_with_gpu(contents.parts, picture);
  if (!picture) return;
  try {
    const Picture expected = codec::decode_with_spng(contents.parts, deadline);
    require(same_pixels(picture->pixels, expected.pixels), "both decoders give the same pixels");
    require(same_pixels(picture->alpha, expected.alpha), "both decoders give the same alpha");
  } catch (const ItemError& error) {
    require(is_known_difference(error.what()), "libspng accepts what libdeflate accepts");
  }
} catch (const ItemError&) {  // checked by check_decode()
}

}  // namespace
}  // namespace eckart::fuzz

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  const auto file = std::as_bytes(std::span(data, size));
  const codec::Codec& codec = codec::codec_for(ImageFormat::png);
  fuzz::check_decode(codec, file);
  if (fuzz::checked_shape(codec, file)) fuzz::compare_decoders(file);
  return 0;
}
