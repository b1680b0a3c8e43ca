// Fuzzes format detection and admission of any file, reads its metadata, and parses the same bytes
// as EXIF.
#include <vector>

#include "io/exif.hpp"
#include "io/jpeg_metadata.hpp"
#include "io/png_metadata.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  if (const io::Codec* codec = fuzz::find_codec(file)) fuzz::checked_shape(*codec, file);
  const int orientation = io::exif_orientation(file);
  fuzz::require(orientation >= 1 && orientation <= 8, "an EXIF orientation is from 1 to 8");
  std::vector<std::byte> exif(file.begin(), file.end());
  io::make_exif_upright(exif, 3, 5);
  fuzz::require(io::exif_orientation(exif) == 1, "EXIF data becomes upright");
  io::exif_density(file);
  constexpr std::size_t kMaxMetadata = 65536;
  for (const Metadata& metadata :
       {io::read_png_metadata(file, kMaxMetadata), io::read_jpeg_metadata(file, kMaxMetadata)})
    fuzz::require(metadata.bytes() <= kMaxMetadata, "metadata is within its limit");
  return 0;
}
