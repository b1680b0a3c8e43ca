#include "codec/png_rows.hpp"

#include <algorithm>
#include <array>
#include <new>

#include "codec/png_chunk.hpp"

namespace eckart::codec {

PngRows::PngRows(std::span<const std::byte> chunks, Deadline& deadline)
    : chunks_(chunks), deadline_(deadline) {
  if (::inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
}

PngRows::~PngRows() { ::inflateEnd(&stream_); }

bool PngRows::fail(const char* why) {
  failure_ = std::string("cannot be decoded: ") + why;
  return false;
}

bool PngRows::next_chunk() {
  const std::span<const std::byte> chunk = first_chunk(chunks_);
  chunks_ = chunks_.subspan(chunk.size());
  if (!has_valid_crc(chunk)) return fail("an IDAT chunk has a wrong CRC");
  rest_ = data_of_chunk(chunk);
  return true;
}

/// Passes small slices to zlib: a few bytes may inflate to megabytes of pixels, and many bytes to
/// none.
bool PngRows::next_input() {
  constexpr std::size_t kSlice = 8192;
  while (rest_.empty()) {
    if (deadline_.passed()) return false;
    if (chunks_.empty()) return fail("the compressed pixels are incomplete");
    if (!next_chunk()) return false;
  }
  if (deadline_.passed()) return false;
  const std::span<const std::byte> slice = rest_.first(std::min(kSlice, rest_.size()));
  stream_.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(slice.data()));
  stream_.avail_in = uInt(slice.size());
  rest_ = rest_.subspan(slice.size());
  return true;
}

bool PngRows::inflate_some() {
  if (stream_.avail_in == 0 && !next_input()) return false;
  const int result = ::inflate(&stream_, Z_NO_FLUSH);
  if (result == Z_STREAM_END) ended_ = true;
  if (result == Z_OK || result == Z_STREAM_END || result == Z_BUF_ERROR) return true;
  out_of_memory_ = result == Z_MEM_ERROR;
  if (out_of_memory_) return false;
  return fail(stream_.msg != nullptr ? stream_.msg
                                     : "the compressed pixels require a preset dictionary");
}

bool PngRows::read(std::span<std::byte> to) {
  stream_.next_out = reinterpret_cast<Bytef*>(to.data());
  stream_.avail_out = uInt(to.size());
  while (stream_.avail_out > 0) {
    if (ended_) return fail("the pixel data is too short");
    if (!inflate_some()) return false;
  }
  return true;
}

bool PngRows::finish() {
  std::array<std::byte, 1> more;
  stream_.next_out = reinterpret_cast<Bytef*>(more.data());
  stream_.avail_out = uInt(more.size());
  while (!ended_ && stream_.avail_out > 0) {
    if (!inflate_some()) return false;
  }
  while (!chunks_.empty()) {
    if (deadline_.passed() || !next_chunk()) return false;
  }
  return true;
}

}  // namespace eckart::codec
