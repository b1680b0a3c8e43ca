// DICOM files with one gray image. Samples stay as they are stored: neither the rescale slope and
// intercept nor the window is applied.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "codec/deadline.hpp"
#include "codec/dicom_frame.hpp"
#include "codec/dicom_header.hpp"
#include "codec/image_codecs.hpp"
#include "codec/jpeg_segments.hpp"

namespace eckart::codec {
namespace {

/// Returns the memory of decoding besides the file: the image; if it is compressed, the frame and
/// its samples, of which dcmtk has a copy.
std::size_t decode_bytes(const DicomHeader& header) {
  const std::size_t decoded = header.is_compressed ? 4 * header.shape.samples() : 0;
  return header.shape.bytes() + header.frame_bytes() * 2 + decoded;
}

Header read_header(FileBytes file) {
  const DicomHeader header = read_dicom_header(std::move(file));
  const std::size_t bytes = decode_bytes(header);
  return {header.shape, bytes, bytes};
}

/// The bits of a sample, as an unsigned number of which 0 is black.
class SampleBits {
 public:
  explicit SampleBits(const DicomHeader& header)
      : shift_(header.high_bit + 1 - header.bits_stored),
        mask_((1U << header.bits_stored) - 1),
        flip_((header.is_signed ? 1U << (header.bits_stored - 1) : 0U) ^
              (header.is_inverted ? mask_ : 0U)) {}

  unsigned operator()(unsigned stored) const { return (stored >> shift_ & mask_) ^ flip_; }

 private:
  int shift_;
  unsigned mask_, flip_;
};

template <class T, class Stored>
void convert(const DicomHeader& header, std::span<const Stored> stored, Image& image) {
  const SampleBits bits(header);
  std::ranges::transform(stored, reinterpret_cast<T*>(image.data()),
                         [&](Stored sample) { return T(bits(sample)); });
}

/// Returns the JPEG, which may be divided into fragments.
std::vector<std::byte> join_frame(std::span<const std::byte> file, const DicomHeader& header) {
  std::vector<std::byte> frame;
  frame.reserve(header.frame_bytes());
  for (const auto& [offset, size] : header.fragments) {
    const std::span<const std::byte> part = file.subspan(offset, size);
    frame.insert(frame.end(), part.begin(), part.end());
  }
  while (!frame.empty() && frame.back() == std::byte(0)) frame.pop_back();
  constexpr std::byte kMarker{0xFF}, kEnd{0xD9};
  if (frame.size() < 2 || frame.back() != kEnd || frame[frame.size() - 2] != kMarker)
    fail_corrupt("truncated: the JPEG frame has no end marker");
  return frame;
}

/// dcmtk takes the size from the frame, but the image has that of the header. Its search for the
/// frame header does not end at the marker TEM. Markers that it skips otherwise than JpegSegments
/// are refused, so that it finds the same frame header before any TEM.
void check_frame(std::span<const std::byte> frame, const DicomHeader& header) {
  if (frame[0] != std::byte(0xFF) || frame[1] != std::byte(JpegMarker::kSoi))
    fail_corrupt("has a JPEG frame without a start marker");
  const auto check_marker = [](int marker) {
    if (marker >= JpegMarker::kSof0 && marker != JpegMarker::kSof55) return;
    fail_corrupt("has the JPEG marker " + std::to_string(marker) +
                 " before its frame header, which dcmtk cannot decode");
  };
  JpegSegments segments(frame);
  JpegSegment segment = segments.next();
  for (check_marker(segment.marker); !is_jpeg_frame_header(segment.marker);
       check_marker(segment.marker)) {
    if (segment.marker == JpegMarker::kSos || segment.marker == JpegMarker::kEoi)
      fail_corrupt("has a JPEG frame without a frame header");
    segment = segments.next();
  }
  if (segment.data.size() < 6) fail_corrupt("has a JPEG frame header that is too short");
  const auto at = [&](std::size_t i) { return int(segment.data[i]); };
  const int bits = at(0), rows = at(1) << 8 | at(2), cols = at(3) << 8 | at(4), components = at(5);
  if (rows != header.shape.rows || cols != header.shape.cols || components != 1)
    fail_corrupt("has a JPEG frame of " + std::to_string(rows) + " x " + std::to_string(cols) +
                 " pixels (rows x columns) with " + std::to_string(components) +
                 " components, but declares " + std::to_string(header.shape.rows) + " x " +
                 std::to_string(header.shape.cols) + " with 1");
  if (bits < header.bits_stored || bits > header.bits_allocated)
    fail_corrupt("has a JPEG frame of " + std::to_string(bits) + " bits, but declares " +
                 std::to_string(header.bits_stored));
}

template <class T>
void decode_into(std::span<const std::byte> file, const DicomHeader& header, Image& image) {
  if (header.is_compressed) {
    const std::vector<std::byte> frame = join_frame(file, header);
    check_frame(frame, header);
    const std::vector<std::uint16_t> samples = decode_dicom_frame(frame, header);
    return convert<T>(header, std::span<const std::uint16_t>(samples), image);
  }
  std::memcpy(image.data(), file.data() + header.pixels, image.bytes());  // little-endian, as here
  convert<T>(header, std::span(reinterpret_cast<const T*>(image.data()), image.shape().samples()),
             image);
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const DicomHeader header = read_dicom_header(file);
  check_decode_memory(file.size() + decode_bytes(header), limits);
  Picture picture;
  picture.pixels = Image(header.shape);
  if (header.shape.depth == Depth::u8) {
    decode_into<std::uint8_t>(file, header, picture.pixels);
  } else {
    decode_into<std::uint16_t>(file, header, picture.pixels);
  }
  if (deadline.passed_now()) deadline.throw_too_large();
  picture.metadata.dicom = header.values;
  return picture;
}

}  // namespace

Codec dicom_codec() {
  return {ImageFormat::dicom, "dcm", has_dicom_signature, read_header, decode};
}

}  // namespace eckart::codec
