#include "codec/spng_decoder.hpp"

#include <spng.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <string_view>

#include "codec/alpha.hpp"
#include "codec/png_chunk_writer.hpp"
#include "codec/png_rows.hpp"
#include "core/error.hpp"

namespace eckart::codec {
namespace {

struct SpngDeleter {
  void operator()(spng_ctx* context) const { spng_ctx_free(context); }
};

/// Provides libspng with an uncompressed PNG of the same pixels, because libspng does not report
/// whether the compressed stream is complete.
class UncompressedPngStream {
 public:
  UncompressedPngStream(const PngParts& parts, Deadline& deadline)
      : rows_(parts.idat, deadline), rows_left_(parts.row_bytes) {
    buffer_.reserve(kBlock + 64);  // block and chunk headers
    append(buffer_, "\x89PNG\r\n\x1a\n");
    for (const auto& chunk : {parts.ihdr, parts.palette, parts.transparency})
      buffer_.insert(buffer_.end(), chunk.begin(), chunk.end());
  }

  static int read(spng_ctx*, void* reader, void* to, std::size_t size) {
    return static_cast<UncompressedPngStream*>(reader)->read(static_cast<std::byte*>(to), size);
  }

  const PngRows& rows() const { return rows_; }

 private:
  static constexpr std::size_t kBlock = 32768;

  int read(std::byte* to, std::size_t size) {
    while (size > 0) {
      if (used_ == buffer_.size()) {
        if (ended_) return SPNG_IO_EOF;
        if (!refill()) return SPNG_IO_ERROR;
      }
      const std::size_t part = std::min(size, buffer_.size() - used_);
      to = std::copy_n(buffer_.data() + used_, part, to);
      size -= part;
      used_ += part;
    }
    return 0;
  }

  /// Writes the next rows as an IDAT chunk with one stored block, or IEND.
  bool refill() {
    buffer_.clear();
    used_ = 0;
    if (rows_left_ == 0) {
      ended_ = true;
      append_big_endian_32(buffer_, 0);
      append(buffer_, "IEND");
      append_big_endian_32(buffer_, 0xAE426082);
      return true;
    }
    const std::size_t size = std::min(rows_left_, kBlock);
    rows_left_ -= size;
    const std::size_t header = begun_ ? 0 : 2;
    append_big_endian_32(buffer_, std::uint32_t(header + 5 + size));
    append(buffer_, "IDAT");
    if (!begun_) append(buffer_, "\x78\x01");
    begun_ = true;
    for (const std::size_t byte :
         {std::size_t(rows_left_ == 0), size & 0xFF, size >> 8, ~size & 0xFF, ~size >> 8 & 0xFF})
      buffer_.push_back(std::byte(byte));
    const std::size_t at = buffer_.size();
    buffer_.resize(at + size);
    if (!rows_.read(std::span(buffer_).subspan(at))) return false;
    append_big_endian_32(buffer_, 0);  // CRC, which libspng ignores
    return rows_left_ > 0 || rows_.finish();
  }

  PngRows rows_;
  std::size_t rows_left_;
  std::vector<std::byte> buffer_;
  std::size_t used_ = 0;
  bool begun_ = false, ended_ = false;
};

/// Returns the libspng format that keeps the samples unchanged.
int format_of(const PngParts& parts) {
  if (parts.alpha == PngAlpha::palette) return SPNG_FMT_RGBA8;
  if (parts.alpha == PngAlpha::channel || parts.shape.depth == Depth::u16) return SPNG_FMT_PNG;
  return parts.shape.channels == 1 ? SPNG_FMT_G8 : SPNG_FMT_RGB8;
}

void decode_into(const PngParts& parts, Deadline& deadline, std::byte* to, std::size_t bytes) {
  const std::unique_ptr<spng_ctx, SpngDeleter> context(spng_ctx_new(SPNG_CTX_IGNORE_ADLER32));
  if (!context) throw std::bad_alloc();
  UncompressedPngStream reader(parts, deadline);
  const auto check = [&](int error) {
    if (error == 0) return;
    if (deadline.passed()) deadline.throw_too_large();
    if (error == SPNG_EMEM || reader.rows().out_of_memory()) throw std::bad_alloc();
    if (!reader.rows().failure().empty())
      throw ItemError(FailureReason::corrupt, reader.rows().failure());
    throw ItemError(FailureReason::corrupt,
                    std::string("cannot be decoded: ") + spng_strerror(error));
  };
  check(spng_set_crc_action(context.get(), SPNG_CRC_USE, SPNG_CRC_USE));
  check(spng_set_png_stream(context.get(), UncompressedPngStream::read, &reader));
  const int flags = parts.alpha == PngAlpha::palette ? SPNG_DECODE_TRNS : 0;
  check(spng_decode_image(context.get(), to, bytes, format_of(parts), flags));
  check(spng_decode_chunks(context.get()));  // up to IEND
}

Picture decode_without_alpha(const PngParts& parts, Deadline& deadline) {
  Picture picture{Image(parts.shape), {}, {}};
  decode_into(parts, deadline, picture.pixels.data(), picture.pixels.bytes());
  if (!parts.transparent_color.empty())
    picture.alpha = alpha_of_color(picture.pixels, parts.transparent_color);
  return picture;
}

Picture decode_with_alpha(const PngParts& parts, Deadline& deadline) {
  const std::size_t bytes = interleaved_bytes(parts.shape, parts.alpha);
  const auto samples = std::make_unique_for_overwrite<std::byte[]>(bytes);
  decode_into(parts, deadline, samples.get(), bytes);
  return split_alpha({samples.get(), bytes}, parts.shape);
}

}  // namespace

std::string spng_version() { return spng_version_string(); }

std::size_t interleaved_bytes(const ImageShape& shape, PngAlpha alpha) {
  if (alpha == PngAlpha::none) return 0;
  return shape.bytes() + alpha_shape(shape).bytes();
}

Picture decode_with_spng(const PngParts& parts, Deadline& deadline) {
  return parts.alpha == PngAlpha::none ? decode_without_alpha(parts, deadline)
                                       : decode_with_alpha(parts, deadline);
}

}  // namespace eckart::codec
