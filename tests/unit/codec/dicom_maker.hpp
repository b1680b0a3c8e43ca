#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "codec/dicom_tag.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Writes DICOM files of one gray image of 2 columns and 1 row; other values can be set.
class DicomMaker {
 public:
  using enum codec::DicomTag::Value;

  explicit DicomMaker(int bits) {
    number(kSamples, 1).text(kPhotometric, "MONOCHROME2").number(kRows, 1).number(kCols, 2);
    number(kBitsAllocated, bits > 8 ? 16 : 8).number(kBitsStored, bits).number(kHighBit, bits - 1);
    number(kPixelRepresentation, 0);
  }

  DicomMaker& number(std::uint32_t tag, int value) {
    elements_[tag] = {"US", little_endian(std::uint32_t(value), 2)};
    return *this;
  }
  DicomMaker& text(std::uint32_t tag, std::string value) {
    if (value.size() % 2 != 0) value += ' ';
    elements_[tag] = {"CS", std::move(value)};
    return *this;
  }
  /// Element and value without checks: for sequences.
  DicomMaker& raw(std::string_view bytes) {
    raw_ = bytes;
    return *this;
  }
  DicomMaker& syntax(std::string_view last_numbers) {
    syntax_ = "1.2.840.10008.1.2" + std::string(last_numbers);
    if (syntax_.size() % 2 != 0) syntax_ += '\0';
    return *this;
  }
  DicomMaker& pixels(std::string_view data) {
    pixels_ = data;
    return *this;
  }
  /// A JPEG as one fragment, or as this many of which only the last is not empty.
  DicomMaker& frame(std::string frame, std::size_t fragments = 1) {
    if (frame.size() % 2 != 0) frame += '\0';
    const std::string item("\xFE\xFF\x00\xE0", 4), end("\xFE\xFF\xDD\xE0", 4);
    pixels_.clear();
    for (std::size_t i = 0; i < fragments; ++i) pixels_ += item + little_endian(0, 4);
    pixels_ +=
        item + little_endian(std::uint32_t(frame.size()), 4) + frame + end + little_endian(0, 4);
    is_compressed_ = true;
    return *this;
  }

  Bytes file() const {
    const bool has_types = syntax_.size() > 18 || syntax_.back() == '1';
    std::string file = std::string(128, '\0') + "DICM";
    append(file, kTransferSyntax, "UI", syntax_, true);
    file += raw_;
    for (const auto& [tag, element] : elements_)
      append(file, tag, element.first, element.second, has_types);
    file += tag_bytes(kPixels);
    if (has_types) file += std::string("OW\0\0", 4);
    file += little_endian(is_compressed_ ? 0xFFFFFFFF : std::uint32_t(pixels_.size()), 4) + pixels_;
    return to_bytes(file);
  }

 private:
  static std::string little_endian(std::uint32_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i) text += char(value >> 8 * i);
    return text;
  }
  static std::string tag_bytes(std::uint32_t tag) {
    return little_endian(tag >> 16, 2) + little_endian(tag & 0xFFFF, 2);
  }
  static void append(std::string& file, std::uint32_t tag, const std::string& type,
                     const std::string& value, bool has_type) {
    file += tag_bytes(tag) + (has_type ? type : "") +
            little_endian(std::uint32_t(value.size()), has_type ? 2 : 4) + value;
  }

  std::map<std::uint32_t, std::pair<std::string, std::string>> elements_;
  std::string syntax_ = "1.2.840.10008.1.2.1", raw_, pixels_;
  bool is_compressed_ = false;
};

}  // namespace eckart::test
