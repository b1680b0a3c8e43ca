// DICOM PS3.5 (encoding) and PS3.10 (files). Only little-endian syntaxes.
#include "codec/dicom_header.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "codec/dicom_tag.hpp"
#include "codec/image_codecs.hpp"
#include "text/printable.hpp"

namespace eckart::codec {
namespace {

using enum DicomTag::Value;

constexpr std::size_t kPreamble = 128;
constexpr std::string_view kMagic = "DICM";
constexpr std::uint32_t kUndefined = 0xFFFFFFFF;  // length of a sequence that ends with a delimiter

struct Element {
  std::uint32_t tag = 0, length = 0;
  std::size_t data = 0;  ///< offset
};

/// Reads the elements of a file in order.
class Elements {
 public:
  Elements(FileBytes file, std::size_t offset) : file_(std::move(file)), offset_(offset) {}

  void use_implicit_types() { has_types_ = false; }

  /// Returns the next element, and moves to the end of its header.
  Element next() {
    Element element;
    element.tag = number(2) << 16;
    element.tag |= number(2);
    const bool is_delimiter = element.tag >> 16 == 0xFFFE;
    const bool is_of_file = element.tag >> 16 == 0x0002;  // which always has types
    if (is_delimiter || (!has_types_ && !is_of_file)) {
      element.length = number(4);
    } else {
      const std::string type = text(offset_, 2);
      offset_ += 2;
      if (has_long_length(type)) {
        offset_ += 2;
        element.length = number(4);
      } else {
        element.length = number(2);
      }
    }
    element.data = offset_;
    return element;
  }

  /// Moves to the end of the element.
  void skip(const Element& element, int depth = 0) {
    constexpr int kMaxDepth = 16;
    if (element.length != kUndefined) {
      if (element.length > file_.size() - offset_) fail_corrupt("truncated: ends in its header");
      offset_ += element.length;
      return;
    }
    if (depth > kMaxDepth) fail_corrupt("has sequences in too many levels");
    for (Element inner = next(); inner.tag != kSequenceEnd && inner.tag != kItemEnd; inner = next())
      skip(inner, depth + 1);
  }

  std::string text(std::size_t offset, std::size_t length) {
    const std::span<const std::byte> bytes = file_.at(offset, length);
    if (bytes.size() < length) fail_corrupt("truncated: ends in its header");
    return {reinterpret_cast<const char*>(bytes.data()), length};
  }

  std::size_t size() const { return file_.size(); }

 private:
  static bool has_long_length(std::string_view type) {
    constexpr std::string_view kTypes = "OB OD OF OL OV OW SQ SV UC UN UR UT UV";
    return kTypes.find(type) != kTypes.npos;
  }

  std::uint32_t number(std::size_t bytes) {
    const std::string little = text(offset_, bytes);
    offset_ += bytes;
    std::uint32_t value = 0;
    for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::uint8_t(little[i]);
    return value;
  }

  FileBytes file_;
  std::size_t offset_;
  bool has_types_ = true;
};

/// The value of an element as text, without padding. Empty if it is long.
std::string value_of(Elements& elements, const Element& element) {
  constexpr std::uint32_t kMaxLength = 256;
  if (element.length > kMaxLength) return {};
  std::string value = elements.text(element.data, element.length);
  value.erase(value.find_last_not_of(std::string_view(" \0", 2)) + 1);
  value.erase(0, value.find_first_not_of(' '));
  return value;
}

int number_of(Elements& elements, const Element& element) {
  if (element.length < 2) fail_corrupt("has a number without a value");
  const std::string bytes = elements.text(element.data, 2);
  return std::uint8_t(bytes[0]) | std::uint8_t(bytes[1]) << 8;
}

/// The first of several numbers in a text (DICOM PS3.5, 6.2: DS and IS); none if it is empty.
template <class T>
std::optional<T> first_number_of(Elements& elements, const Element& element) {
  const std::string value = value_of(elements, element);
  std::string_view first = std::string_view(value).substr(0, value.find('\\'));
  first = first.substr(0, first.find_last_not_of(' ') + 1);
  if (first.empty()) return std::nullopt;
  if (first.starts_with('+')) first.remove_prefix(1);
  T number{};
  const char* const end = first.data() + first.size();
  const auto [rest, error] = std::from_chars(first.data(), end, number);
  if (error != std::errc{} || rest != end || !std::isfinite(double(number)))
    fail_corrupt("has '" + text::printable(value) + "' in place of a number");
  return number;
}

/// Sets what follows from the transfer syntax.
void use_syntax(Elements& elements, DicomHeader& header, const std::string& syntax) {
  header.syntax = syntax;
  if (syntax == "1.2.840.10008.1.2") {
    elements.use_implicit_types();
  } else if (syntax == "1.2.840.10008.1.2.4.50" || syntax == "1.2.840.10008.1.2.4.51" ||
             syntax == "1.2.840.10008.1.2.4.57" || syntax == "1.2.840.10008.1.2.4.70") {
    header.is_compressed = true;
  } else if (syntax != "1.2.840.10008.1.2.1") {
    fail_unsupported("has the DICOM transfer syntax " +
                     (syntax.empty() ? "''" : text::printable(syntax)) +
                     "; convert it to explicit little endian first");
  }
}

struct Attributes {
  int samples = 1, frames = 1, representation = 0;
  std::string photometric;
};

void take(Elements& elements, const Element& element, DicomHeader& header, Attributes& others) {
  switch (element.tag) {
    case kTransferSyntax:
      return use_syntax(elements, header, value_of(elements, element));
    case kSamples:
      others.samples = number_of(elements, element);
      return;
    case kPhotometric:
      others.photometric = value_of(elements, element);
      return;
    case kFrames:
      others.frames = first_number_of<int>(elements, element).value_or(1);
      return;
    case kRows:
      header.shape.rows = number_of(elements, element);
      return;
    case kCols:
      header.shape.cols = number_of(elements, element);
      return;
    case kBitsAllocated:
      header.bits_allocated = number_of(elements, element);
      return;
    case kBitsStored:
      header.bits_stored = number_of(elements, element);
      return;
    case kHighBit:
      header.high_bit = number_of(elements, element);
      return;
    case kPixelRepresentation:
      header.is_signed = number_of(elements, element) != 0;
      return;
    case kWindowCenter:
      header.values.window_center = first_number_of<double>(elements, element);
      return;
    case kWindowWidth:
      header.values.window_width = first_number_of<double>(elements, element);
      return;
    case kIntercept:
      header.values.intercept = first_number_of<double>(elements, element).value_or(0);
      return;
    case kSlope:
      header.values.slope = first_number_of<double>(elements, element).value_or(1);
      return;
  }
}

void check(DicomHeader& header, const Attributes& others) {
  if (header.shape.rows == 0 || header.shape.cols == 0)
    fail_corrupt("declares an invalid image size");
  if (others.frames != 1)
    fail_unsupported("has " + std::to_string(others.frames) +
                     " frames; save each as a file of its own");
  header.is_inverted = others.photometric == "MONOCHROME1";
  if (others.samples != 1 || (!header.is_inverted && others.photometric != "MONOCHROME2"))
    fail_unsupported(
        "has " + std::to_string(others.samples) + " samples per pixel, " +
        (others.photometric.empty() ? "of unknown kind" : text::printable(others.photometric)) +
        "; only MONOCHROME1 and MONOCHROME2 are read");
  if (header.bits_allocated != 8 && header.bits_allocated != 16)
    fail_unsupported("has " + std::to_string(header.bits_allocated) + " bits per sample");
  if (header.bits_stored < 1 || header.high_bit >= header.bits_allocated ||
      header.high_bit + 1 < header.bits_stored)
    fail_corrupt("declares impossible bits");
  header.shape.channels = 1;
  header.shape.depth = header.bits_allocated == 8 ? Depth::u8 : Depth::u16;
  header.values.bits_stored = header.bits_stored;
  header.values.is_inverted = header.is_inverted;
  header.values.offset = header.is_signed ? 1 << (header.bits_stored - 1) : 0;
}

/// The first item is a table of offsets. A frame may have several fragments.
void read_fragments(Elements& elements, DicomHeader& header) {
  constexpr std::size_t kMaxFragments = 65536;  // each takes memory
  bool is_table = true;
  for (Element item = elements.next(); item.tag != kSequenceEnd; item = elements.next()) {
    if (item.tag != kItem || item.length == kUndefined) fail_corrupt("has wrong fragments");
    elements.skip(item);
    if (std::exchange(is_table, false)) continue;
    if (header.fragments.size() == kMaxFragments)
      fail_unsupported("has more than " + std::to_string(kMaxFragments) + " fragments");
    header.fragments.emplace_back(item.data, item.length);
  }
}

}  // namespace

std::size_t DicomHeader::frame_bytes() const {
  std::size_t bytes = 0;
  for (const auto& [offset, size] : fragments) bytes += size;
  return bytes;
}

std::string to_string(const DicomValues& values) {
  const auto number = [](double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%g", value);
    return std::string(text);
  };
  std::string text = std::to_string(values.bits_stored) + " bits stored";
  if (values.is_inverted) text += ", inverted";
  text += ", value = " + number(values.slope) + " x " +
          (values.offset == 0 ? "sample" : "(sample - " + std::to_string(values.offset) + ")") +
          (values.intercept < 0 ? " - " : " + ") + number(std::abs(values.intercept));
  if (values.window_center && values.window_width)
    text += ", window " + number(*values.window_center) + " / " + number(*values.window_width);
  return text;
}

bool has_dicom_signature(std::span<const std::byte> start) {
  const std::string_view text(reinterpret_cast<const char*>(start.data()), start.size());
  return text.size() > kPreamble && text.substr(kPreamble).starts_with(kMagic);
}

DicomHeader read_dicom_header(FileBytes file) {
  if (!has_dicom_signature(file.at(0, kPreamble + kMagic.size())))
    fail_corrupt("has no DICOM signature");
  Elements elements(std::move(file), kPreamble + kMagic.size());
  DicomHeader header;
  Attributes others;
  for (;;) {
    const Element element = elements.next();
    if (element.tag != kPixels) {
      take(elements, element, header, others);
      elements.skip(element);
      continue;
    }
    check(header, others);
    header.pixels = element.data;
    if (header.is_compressed != (element.length == kUndefined))
      fail_corrupt("has pixels that are not stored as it states");
    if (!header.is_compressed && (element.length < header.shape.bytes() ||
                                  elements.size() - element.data < header.shape.bytes()))
      fail_corrupt("truncated: the pixels are incomplete");
    if (header.is_compressed) read_fragments(elements, header);
    return header;
  }
}

}  // namespace eckart::codec
