#include "io/spng_decoder.hpp"

#include <spng.h>

#include <memory>
#include <new>

#include "core/error.hpp"

namespace eckart::io {
namespace {

struct Free {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

void check(int error) {
  if (error == SPNG_EMEM) throw std::bad_alloc();
  if (error == 0) return;
  throw ItemError(Reason::corrupt, std::string("does not decode: ") + spng_strerror(error));
}

/// The format in which the samples of such an image come as they are.
int format_of(const ImageShape& shape) {
  if (shape.depth == Depth::u16) return SPNG_FMT_PNG;
  return shape.channels == 1 ? SPNG_FMT_G8 : SPNG_FMT_RGB8;
}

}  // namespace

std::string spng_version() { return spng_version_string(); }

Image decode_with_spng(std::span<const std::byte> file, const ImageShape& announced) {
  const std::unique_ptr<spng_ctx, Free> context(spng_ctx_new(0));
  if (!context) throw std::bad_alloc();
  check(spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_DISCARD));
  check(spng_set_png_buffer(context.get(), file.data(), file.size()));
  Image image(announced);
  check(spng_decode_image(context.get(), image.data(), image.bytes(), format_of(announced), 0));
  check(spng_decode_chunks(context.get()));  // and the checksum of the last pixels
  return image;
}

}  // namespace eckart::io
