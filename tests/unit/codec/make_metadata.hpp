#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

inline Bytes as_bytes(std::string_view text) {
  const auto* begin = reinterpret_cast<const std::byte*>(text.data());
  return {begin, begin + text.size()};
}

inline std::string as_string(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// The header of an ICC profile for colors of this kind, "RGB " or "GRAY", and `bytes` in all.
inline Bytes make_icc(std::string_view space = "RGB ", std::uint32_t bytes = 400) {
  std::string profile(bytes, '\0');
  for (std::size_t i = 128; i < bytes; ++i) profile[i] = char(i * 7 % 251);
  for (int i = 0; i < 4; ++i) profile[std::size_t(i)] = char(bytes >> (24 - 8 * i));
  profile.replace(16, 4, space);
  profile.replace(36, 4, "acsp");
  return as_bytes(profile);
}

struct ExifOptions {
  bool is_little_endian = true;
  int orientation = 6;
  bool has_thumbnail = true;
  bool is_thumbnail_compressed = true;  ///< otherwise its bytes are a strip
  std::string after_thumbnail{};        ///< other data behind it
};

/// EXIF data with maker, copyright, date, resolution (300 and 150 per inch), pixel dimensions and a
/// thumbnail, whose bytes are "THUMBNAIL".
class ExifMaker {
 public:
  explicit ExifMaker(const ExifOptions& options) : options_(options) {}

  Bytes make() const {
    constexpr std::uint32_t kFirst = 8;
    const std::uint32_t exif = kFirst + std::uint32_t(first(0, 0).size());
    const std::uint32_t second = exif + std::uint32_t(pixel_dimensions(0).size());
    const std::uint32_t thumbnail = second + std::uint32_t(thumbnail_directory(0, 0).size());
    std::string all = options_.is_little_endian ? "II" : "MM";
    all += number(42, 2) + number(kFirst, 4);
    all += first(exif, options_.has_thumbnail ? second : 0) + pixel_dimensions(exif);
    if (options_.has_thumbnail) all += thumbnail_directory(second, thumbnail) + "THUMBNAIL";
    return as_bytes(all + options_.after_thumbnail);
  }

 private:
  struct Entry {
    std::uint32_t tag, type, count;
    std::string value;
  };

  std::string number(std::uint32_t value, int bytes) const {
    std::string text;
    for (int i = 0; i < bytes; ++i)
      text += char(value >> 8 * (options_.is_little_endian ? i : bytes - 1 - i) & 0xFF);
    return text;
  }

  Entry text(std::uint32_t tag, std::string value) const {
    value += '\0';
    return {tag, 2, std::uint32_t(value.size()), value};
  }
  Entry short_number(std::uint32_t tag, int value) const {
    return {tag, 3, 1, number(std::uint32_t(value), 2) + number(0, 2)};
  }
  Entry long_number(std::uint32_t tag, std::uint32_t value) const {
    return {tag, 4, 1, number(value, 4)};
  }
  Entry rational(std::uint32_t tag, std::uint32_t value) const {
    return {tag, 5, 1, number(value, 4) + number(1, 4)};
  }

  /// The directory at this offset, with its values behind it.
  std::string directory(std::uint32_t at, const std::vector<Entry>& entries,
                        std::uint32_t next) const {
    std::string head = number(std::uint32_t(entries.size()), 2), values;
    const std::uint32_t values_at = at + 2 + 12 * std::uint32_t(entries.size()) + 4;
    for (const Entry& entry : entries) {
      head += number(entry.tag, 2) + number(entry.type, 2) + number(entry.count, 4);
      if (entry.value.size() > 4) {
        head += number(values_at + std::uint32_t(values.size()), 4);
        values += entry.value + std::string(entry.value.size() % 2, '\0');
      } else {
        head += entry.value + std::string(4 - entry.value.size(), '\0');
      }
    }
    return head + number(next, 4) + values;
  }

  std::string first(std::uint32_t exif, std::uint32_t second) const {
    return directory(
        8,
        {text(0x010F, "Maker"), short_number(0x0112, options_.orientation), rational(0x011A, 300),
         rational(0x011B, 150), short_number(0x0128, 2), text(0x0132, "2020:01:02 03:04:05"),
         text(0x8298, "Copyright Somebody"), long_number(0x8769, exif)},
        second);
  }
  std::string pixel_dimensions(std::uint32_t at) const {
    return directory(at, {long_number(0xA002, 640), long_number(0xA003, 480)}, 0);
  }
  std::string thumbnail_directory(std::uint32_t at, std::uint32_t thumbnail) const {
    if (!options_.is_thumbnail_compressed)
      return directory(
          at, {short_number(0x0103, 1), long_number(0x0111, thumbnail), long_number(0x0117, 9)}, 0);
    return directory(
        at, {short_number(0x0103, 6), long_number(0x0201, thumbnail), long_number(0x0202, 9)}, 0);
  }

  ExifOptions options_;
};

inline Bytes make_exif(const ExifOptions& options = {}) { return ExifMaker(options).make(); }

}  // namespace eckart::test
