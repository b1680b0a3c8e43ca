#include "codec/jpeg/decoder.hpp"

#include <vector>

#include "codec/jpeg/color.hpp"
#include "codec/jpeg/header.hpp"
#include "codec/jpeg/idct.hpp"
#include "codec/jpeg/scan.hpp"
#include "codec/jpeg/unstuff.hpp"

namespace eckart::codec::jpeg {
namespace {

Image to_image(const JpegHeader& header, const std::vector<std::uint8_t>& planes) {
  Image image(header.shape());
  for (std::int32_t row = 0; row < header.layout.rows; ++row) {
    for (std::int32_t col = 0; col < header.layout.cols; ++col) {
      write_pixel(planes.data(), header.layout, row, col,
                  reinterpret_cast<std::uint8_t*>(image.data()));
    }
  }
  return image;
}

}  // namespace

std::variant<Image, Irregularity> decode(std::span<const std::byte> file, int segments) {
  JpegHeader header;
  if (const Irregularity found = parse_header(file, header); found != Irregularity::none)
    return found;
  const std::span<const std::byte> scan = file.subspan(header.scan_offset);
  std::vector<std::uint32_t> words(max_unstuffed_bytes(scan.size()) / 4);
  const auto bytes = unstuff(scan, std::as_writable_bytes(std::span(words)));
  if (!bytes) return Irregularity::end;

  const Tables tables = build_tables(header.tables);
  const Layout& layout = header.layout;
  std::vector<std::int16_t> coefficients(std::size_t(layout.samples()));
  const ScanData data{words.data(), std::int32_t(*bytes)};
  if (const Irregularity found = decode_scan(layout, tables, data, segments, coefficients.data());
      found != Irregularity::none)
    return found;

  std::vector<std::uint8_t> planes(coefficients.size());
  for (std::int32_t block = 0; block < layout.blocks(); ++block) {
    const BlockPlace place = layout.place(block);
    if (!transform_block(&coefficients[std::size_t(block) * kBlockSize],
                         tables.quantization[place.channel],
                         &planes[std::size_t(place.first_sample)], place.stride))
      return Irregularity::value;
  }
  return to_image(header, planes);
}

}  // namespace eckart::codec::jpeg
