// Fuzzes format detection and admission of any file, and parses the same bytes as EXIF.
#include "io/orientation.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  if (const io::Codec* codec = fuzz::find_codec(file)) fuzz::checked_shape(*codec, file);
  const int orientation = io::exif_orientation(file);
  fuzz::require(orientation >= 1 && orientation <= 8, "an EXIF orientation is from 1 to 8");
  return 0;
}
