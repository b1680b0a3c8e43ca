#include "codec/deflate.hpp"

#include <libdeflate.h>
#include <zlib.h>

#include <algorithm>
#include <memory>
#include <new>

namespace eckart::codec {

std::string deflate_version() { return LIBDEFLATE_VERSION_STRING; }

std::vector<std::byte> compress_zlib(std::span<const std::byte> bytes, int level) {
  const std::unique_ptr<libdeflate_compressor, void (*)(libdeflate_compressor*)> compressor(
      libdeflate_alloc_compressor(level), libdeflate_free_compressor);
  if (!compressor) throw std::bad_alloc();
  std::vector<std::byte> stream(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  stream.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(),
                                         stream.data(), stream.size()));
  return stream;
}

std::optional<std::vector<std::byte>> inflate_zlib(std::span<const std::byte> stream,
                                                   std::size_t max_bytes) {
  z_stream state{};
  if (::inflateInit(&state) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&state, ::inflateEnd);
  state.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(stream.data()));
  state.avail_in = uInt(stream.size());
  constexpr std::size_t kFirstBytes = 4096;
  std::vector<std::byte> bytes;
  int result = Z_OK;
  while (result == Z_OK && bytes.size() <= max_bytes) {
    const std::size_t used = bytes.size();
    bytes.resize(std::min(max_bytes + 1, std::max(kFirstBytes, 2 * used)));
    state.next_out = reinterpret_cast<Bytef*>(bytes.data() + used);
    state.avail_out = uInt(bytes.size() - used);
    result = ::inflate(&state, Z_NO_FLUSH);
    bytes.resize(std::min(bytes.size(), std::size_t(state.total_out)));
    if (bytes.size() == used && result == Z_OK) break;
  }
  if (result == Z_MEM_ERROR) throw std::bad_alloc();
  if (result != Z_STREAM_END || bytes.size() > max_bytes) return std::nullopt;
  bytes.shrink_to_fit();
  return bytes;
}

}  // namespace eckart::codec
