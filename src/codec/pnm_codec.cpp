// PBM, PGM and PPM, as text and binary. https://netpbm.sourceforge.net/doc/pnm.html and the pages
// of each format.
#include <algorithm>
#include <cctype>
#include <climits>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/deadline.hpp"
#include "codec/image_codecs.hpp"
#include "codec/packed_samples.hpp"

namespace eckart::codec {
namespace {

bool is_space(std::byte byte) { return std::isspace(int(byte)) != 0; }

bool sniff(std::span<const std::byte> file) {
  return file.size() >= 3 && file[0] == std::byte('P') && file[1] >= std::byte('1') &&
         file[1] <= std::byte('6') && (is_space(file[2]) || file[2] == std::byte('#'));
}

/// Reads bytes of a file in order.
class Reader {
 public:
  Reader(FileBytes file, std::size_t offset) : file_(std::move(file)), offset_(offset) {}

  std::size_t offset() const { return offset_; }
  bool at_end() const { return offset_ >= file_.size(); }
  std::byte next() {
    if (at_end()) fail_corrupt("ends in its header or its samples");
    return file_.at(offset_++, 1)[0];
  }

  /// Skips white space and comments, and returns the byte after them.
  std::byte next_after_space() {
    std::byte byte = next();
    while (is_space(byte) || byte == std::byte('#')) {
      if (byte == std::byte('#'))
        while (byte != std::byte('\n') && byte != std::byte('\r')) byte = next();
      byte = next();
    }
    return byte;
  }

  /// Reads a number and the byte after it, if there is one.
  int number() {
    std::int64_t value = 0;
    std::byte byte = next_after_space();
    for (;; byte = next()) {
      if (std::isdigit(int(byte)) == 0) fail_corrupt("has a wrong number");
      value = value * 10 + int(byte) - '0';
      if (value > INT_MAX) fail_corrupt("has a number that is too large");
      if (at_end()) return int(value);
      const std::byte after = file_.at(offset_, 1)[0];
      if (is_space(after)) {
        ++offset_;
        return int(value);
      }
      if (after == std::byte('#')) return int(value);
    }
  }

 private:
  FileBytes file_;
  std::size_t offset_;
};

struct PnmHeader {
  ImageShape shape;
  int max_value = 1;
  bool is_bitmap = false;  ///< 1 is black
  bool is_text = false;
  std::size_t data = 0;  ///< offset of the samples

  /// The minimum number of bytes of the samples.
  std::size_t data_bytes() const {
    if (is_text) return is_bitmap ? shape.samples() : 2 * shape.samples() - 1;
    return is_bitmap ? std::size_t(shape.rows) * packed_bytes(std::size_t(shape.cols), 1)
                     : shape.bytes();
  }
};

PnmHeader parse_header(FileBytes file) {
  if (!sniff(file.at(0, 3))) fail_corrupt("has no PNM signature");
  const int kind = int(file.at(1, 1)[0]) - '0';  // 1 to 3: text; 4 to 6: binary
  const std::size_t size = file.size();
  Reader reader(std::move(file), 2);
  PnmHeader header;
  header.is_text = kind <= 3;
  header.is_bitmap = kind % 3 == 1;
  header.shape.channels = kind % 3 == 0 ? 3 : 1;
  header.shape.cols = reader.number();
  header.shape.rows = reader.number();
  if (!header.is_bitmap) header.max_value = reader.number();
  if (header.shape.rows == 0 || header.shape.cols == 0)
    fail_corrupt("declares an invalid image size");
  if (header.max_value < 1 || header.max_value > peak(Depth::u16))
    fail_corrupt("declares an invalid maximum value");
  header.shape.depth = header.max_value > peak(Depth::u8) ? Depth::u16 : Depth::u8;
  header.data = reader.offset();
  if (size - std::min(size, header.data) < header.data_bytes())
    fail_corrupt("truncated: the samples are incomplete");
  return header;
}

Header read_header(FileBytes file) {
  const PnmHeader header = parse_header(std::move(file));
  const std::size_t bytes = header.shape.bytes();
  return {header.shape, bytes, bytes};
}

/// Returns the sample for each value of the file, scaled to the peak of the depth.
std::vector<std::uint16_t> scale_table(const PnmHeader& header) {
  const int top = peak(header.shape.depth), max = header.max_value;
  std::vector<std::uint16_t> table;
  for (std::int64_t value = 0; value <= max; ++value)
    table.push_back(std::uint16_t((value * top + max / 2) / max));
  if (header.is_bitmap) std::reverse(table.begin(), table.end());
  return table;
}

/// Reads the values of the samples, a row at a time.
class Values {
 public:
  Values(const PnmHeader& header, std::span<const std::byte> file)
      : header_(header), next_(file.data() + header.data), text_(file, header.data) {}

  void read_row(std::span<std::uint16_t> row) {
    if (header_.is_text) {
      for (std::uint16_t& value : row) value = text_value();
    } else if (header_.is_bitmap) {
      bits_.resize(row.size());
      unpack_samples(next_, 1, bits_);
      std::ranges::copy(bits_, row.begin());
      next_ += packed_bytes(row.size(), 1);
    } else if (header_.shape.depth == Depth::u8) {
      for (std::uint16_t& value : row) value = std::uint16_t(*next_++);
    } else {
      for (std::uint16_t& value : row) {
        value = std::uint16_t(int(next_[0]) << 8 | int(next_[1]));
        next_ += 2;
      }
    }
  }

 private:
  std::uint16_t text_value() {
    // The digits of a bitmap need no white space between them.
    const int value = header_.is_bitmap ? int(text_.next_after_space()) - '0' : text_.number();
    if (value < 0 || value > header_.max_value)
      fail_corrupt("has a sample above its maximum value");
    return std::uint16_t(value);
  }

  const PnmHeader& header_;
  const std::byte* next_;
  Reader text_;
  std::vector<std::uint8_t> bits_;
};

template <class T>
void decode_into(const PnmHeader& header, std::span<const std::byte> file, Deadline& deadline,
                 Image& image) {
  const std::vector<std::uint16_t> scaled = scale_table(header);
  Values values(header, file);
  std::vector<std::uint16_t> row(std::size_t(header.shape.cols) *
                                 std::size_t(header.shape.channels));
  auto* to = reinterpret_cast<T*>(image.data());
  for (int i = 0; i < header.shape.rows; ++i) {
    if (deadline.passed_now()) deadline.throw_too_large();
    values.read_row(row);
    for (const std::uint16_t value : row) {
      if (value >= scaled.size()) fail_corrupt("has a sample above its maximum value");
      *to++ = T(scaled[value]);
    }
  }
}

Picture decode(std::span<const std::byte> file, const ImageLimits& limits) {
  Deadline deadline(limits.decode_s);
  const PnmHeader header = parse_header(file);
  check_decode_memory(file.size() + header.shape.bytes(), limits);
  Picture picture{Image(header.shape), {}, {}};
  if (header.shape.depth == Depth::u8) {
    decode_into<std::uint8_t>(header, file, deadline, picture.pixels);
  } else {
    decode_into<std::uint16_t>(header, file, deadline, picture.pixels);
  }
  return picture;
}

void check_encodable(const ImageShape& shape, bool has_alpha) {
  check_depth("PNM", shape.depth, Depth::u16);
  if (has_alpha) fail_without_alpha("PNM");
}

std::vector<std::byte> encode(const PictureView& picture, const EncodeOptions&) {
  const ImageShape& shape = picture.pixels.shape();
  check_encodable(shape, picture.has_alpha());
  const std::string header = std::string(shape.channels == 1 ? "P5" : "P6") + "\n" +
                             std::to_string(shape.cols) + " " + std::to_string(shape.rows) + "\n" +
                             std::to_string(peak(shape.depth)) + "\n";
  std::vector<std::byte> file(header.size() + shape.bytes());
  std::byte* to = std::ranges::copy(std::as_bytes(std::span(header)), file.data()).out;
  if (shape.depth == Depth::u8) {
    std::copy_n(picture.pixels.data(), shape.bytes(), to);
  } else {
    const auto* samples = reinterpret_cast<const std::uint16_t*>(picture.pixels.data());
    for (const std::uint16_t sample : std::span(samples, shape.samples())) {
      *to++ = std::byte(sample >> 8);
      *to++ = std::byte(sample & 0xFF);
    }
  }
  return file;
}

}  // namespace

Codec pnm_codec() {
  return {ImageFormat::pnm,
          "pnm",
          sniff,
          read_header,
          decode,
          check_encodable,
          encode,
          {.icc = 0, .exif = 0, .xmp = 0, .has_density = false, .has_png_color = false}};
}

}  // namespace eckart::codec
