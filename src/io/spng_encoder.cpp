#include "io/spng_encoder.hpp"

#include <spng.h>
#include <zlib.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>

#include "core/error.hpp"
#include "io/alpha.hpp"
#include "io/png_ihdr.hpp"

namespace eckart::io {
namespace {

struct SpngDeleter {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};
struct Free {
  void operator()(void* memory) const { std::free(memory); }
};

void check(int error) {
  if (error == 0) return;
  if (error == SPNG_EMEM) throw std::bad_alloc();
  throw ItemError(FailureReason::not_written,
                  std::string("the image cannot be encoded: ") + spng_strerror(error));
}

spng_ihdr header_of(const ImageShape& shape) {
  spng_ihdr header{};
  header.width = std::uint32_t(shape.cols);
  header.height = std::uint32_t(shape.rows);
  header.bit_depth = shape.depth == Depth::u8 ? 8 : 16;
  header.color_type = shape.channels == 1 ? PngColorType::kGrayAlpha : PngColorType::kRgbAlpha;
  return header;
}

}  // namespace

std::vector<std::byte> encode_alpha_with_spng(const PictureView& picture) {
  const std::vector<std::byte> samples = interleave_alpha(picture);
  const std::unique_ptr<spng_ctx, SpngDeleter> context(spng_ctx_new(SPNG_CTX_ENCODER));
  if (!context) throw std::bad_alloc();
  spng_ctx* const png = context.get();
  spng_ihdr header = header_of(picture.pixels.shape());
  check(spng_set_option(png, SPNG_ENCODE_TO_BUFFER, 1));
  // As OpenCV encodes pictures without alpha.
  check(spng_set_option(png, SPNG_IMG_COMPRESSION_LEVEL, 1));
  check(spng_set_option(png, SPNG_IMG_COMPRESSION_STRATEGY, Z_RLE));
  check(spng_set_option(png, SPNG_FILTER_CHOICE, SPNG_FILTER_CHOICE_SUB));
  check(spng_set_ihdr(png, &header));
  check(spng_encode_image(png, samples.data(), samples.size(), SPNG_FMT_PNG, SPNG_ENCODE_FINALIZE));
  int error = 0;
  std::size_t size = 0;
  const std::unique_ptr<void, Free> file(spng_get_png_buffer(png, &size, &error));
  check(error);
  const auto* begin = static_cast<const std::byte*>(file.get());
  return {begin, begin + size};
}

}  // namespace eckart::io
