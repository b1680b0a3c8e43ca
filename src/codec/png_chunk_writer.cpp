#include "codec/png_chunk_writer.hpp"

#include <libdeflate.h>

namespace eckart::codec {

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

void append(std::vector<std::byte>& to, std::string_view text) {
  append(to, std::as_bytes(std::span(text)));
}

void append_big_endian_32(std::vector<std::byte>& to, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) to.push_back(std::byte(value >> shift & 0xFF));
}

void append_png_chunk(std::vector<std::byte>& file, std::string_view type,
                      std::span<const std::byte> data) {
  append_big_endian_32(file, std::uint32_t(data.size()));
  const std::size_t checked = file.size();
  append(file, type);
  append(file, data);
  append_big_endian_32(file, libdeflate_crc32(0, file.data() + checked, file.size() - checked));
}

}  // namespace eckart::codec
