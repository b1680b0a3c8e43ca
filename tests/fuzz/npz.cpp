// Fuzzes the reader of factors. Checksums are made right first, because few inputs would have any.
#include <zlib.h>

#include <vector>

#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

namespace {

using Bytes = std::vector<std::uint8_t>;

std::size_t number(const Bytes& file, std::size_t at, std::size_t bytes) {
  std::size_t value = 0;
  for (std::size_t i = 0; i < bytes && at + i < file.size(); ++i)
    value |= std::size_t(file[at + i]) << (8 * i);
  return value;
}

/// Sets the checksums in the directory of a ZIP archive.
void repair_checksums(Bytes& file) {
  constexpr std::size_t kEndBytes = 22, kCentralBytes = 46, kLocalBytes = 30, kMaxEntries = 64;
  if (file.size() < kEndBytes) return;
  const std::size_t end = file.size() - kEndBytes;
  std::size_t at = number(file, end + 16, 4);
  for (std::size_t i = 0; i < std::min(number(file, end + 10, 2), kMaxEntries); ++i) {
    if (at > file.size() || file.size() - at < kCentralBytes) return;
    const std::size_t local = number(file, at + 42, 4), bytes = number(file, at + 24, 4);
    const std::size_t data =
        local + kLocalBytes + number(file, local + 26, 2) + number(file, local + 28, 2);
    if (data > file.size() || bytes > file.size() - data) return;
    const uLong crc = crc32_z(0, file.data() + data, bytes);
    for (std::size_t k = 0; k < 4; ++k) file[at + 16 + k] = std::uint8_t(crc >> (8 * k));
    at += kCentralBytes + number(file, at + 28, 2) + number(file, at + 30, 2) +
          number(file, at + 32, 2);
  }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  Bytes file(data, data + size);
  repair_checksums(file);
  fuzz::check_decode(codec::codec_for(ImageFormat::npz), std::as_bytes(std::span(file)));
  return 0;
}
