#include "io/spng_decoder.hpp"

#include <spng.h>

#include <algorithm>
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

/// Gives libspng the pieces, one after the other, until the deadline. libspng reads a few kilobytes
/// at a time, of which no more than megabytes of pixels can come: neither an image of many rows nor
/// a row that takes many codes goes long without being asked about.
class Reader {
 public:
  Reader(std::span<const std::span<const std::byte>> pieces, Deadline& deadline)
      : pieces_(pieces), deadline_(deadline) {}

  static int read(spng_ctx*, void* reader, void* to, std::size_t size) {
    return static_cast<Reader*>(reader)->read(static_cast<std::byte*>(to), size);
  }

 private:
  int read(std::byte* to, std::size_t size) {
    if (deadline_.passed()) return SPNG_IO_ERROR;
    while (size > 0) {
      if (pieces_.empty()) return SPNG_IO_EOF;
      const std::size_t part = std::min(size, pieces_.front().size() - used_);
      to = std::copy_n(pieces_.front().data() + used_, part, to);
      size -= part;
      used_ += part;
      if (used_ < pieces_.front().size()) continue;
      pieces_ = pieces_.subspan(1);
      used_ = 0;
    }
    return 0;
  }

  std::span<const std::span<const std::byte>> pieces_;
  std::size_t used_ = 0;  // of the first
  Deadline& deadline_;
};

}  // namespace

std::string spng_version() { return spng_version_string(); }

Image decode_with_spng(std::span<const std::span<const std::byte>> pieces,
                       const ImageShape& announced, Deadline& deadline) {
  const std::unique_ptr<spng_ctx, Free> context(spng_ctx_new(0));
  if (!context) throw std::bad_alloc();
  check(spng_set_crc_action(context.get(), SPNG_CRC_ERROR, SPNG_CRC_ERROR));
  Reader reader(pieces, deadline);
  check(spng_set_png_stream(context.get(), Reader::read, &reader));
  Image image(announced);
  const auto check_in_time = [&](int error) {
    if (error != 0 && deadline.passed()) deadline.refuse();
    check(error);
  };
  check_in_time(
      spng_decode_image(context.get(), image.data(), image.bytes(), format_of(announced), 0));
  check_in_time(spng_decode_chunks(context.get()));  // and the checksum of the last pixels
  return image;
}

}  // namespace eckart::io
