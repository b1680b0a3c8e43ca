// Fuzzes format detection and admission of any file, reads its metadata, and parses the same bytes
// as EXIF.
#include <vector>

#include "codec/exif.hpp"
#include "codec/jpeg_metadata.hpp"
#include "codec/png_metadata.hpp"
#include "tests/fuzz/decode_checks.hpp"
#include "tests/fuzz/target.hpp"

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace eckart;
  const std::span<const std::byte> file = std::as_bytes(std::span(data, size));
  if (const codec::Codec* codec = fuzz::find_codec(file)) fuzz::checked_shape(*codec, file);
  const int orientation = codec::exif_orientation(file);
  fuzz::require(orientation >= 1 && orientation <= 8, "an EXIF orientation is from 1 to 8");
  std::vector<std::byte> exif(file.begin(), file.end());
  codec::make_exif_upright(exif, 3, 5);
  fuzz::require(codec::exif_orientation(exif) == 1, "EXIF data becomes upright");
  codec::exif_density(file);
  constexpr std::size_t kMaxMetadata = 65536;
  for (const Metadata& metadata : {codec::read_png_metadata(file, kMaxMetadata),
                                   codec::read_jpeg_metadata(file, kMaxMetadata)})
    fuzz::require(metadata.bytes() <= kMaxMetadata, "metadata is within its limit");
  return 0;
}
