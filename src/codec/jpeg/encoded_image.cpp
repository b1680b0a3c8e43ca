#include "codec/jpeg/encoded_image.hpp"

#include "codec/jpeg/unstuff.hpp"

namespace eckart::codec::jpeg {

std::optional<EncodedImage> read_encoded_image(std::span<const std::byte> file) {
  EncodedImage image;
  if (parse_header(file, image.header) != Irregularity::none) return std::nullopt;
  const std::span<const std::byte> scan = file.subspan(image.header.scan_offset);
  image.data.resize(max_unstuffed_bytes(scan.size()));
  const auto bytes = unstuff(scan, image.data);
  if (!bytes) return std::nullopt;
  image.data_bytes = *bytes;
  image.data.resize(max_unstuffed_bytes(*bytes));
  return image;
}

}  // namespace eckart::codec::jpeg
