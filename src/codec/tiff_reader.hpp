#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace eckart::codec {

/// Types of values. TIFF 6.0, section 2.
struct TiffType {
  enum : std::uint32_t { kAscii = 2, kShort = 3, kLong = 4, kRational = 5 };
};

/// Reads a TIFF structure, such as EXIF data, in its byte order. A directory is its offset: a count
/// of entries, the entries, and the offset of the next directory. An entry is its offset, too: tag,
/// type, count, and the values or their offset. TIFF 6.0, section 2.
class TiffReader {
 public:
  static constexpr std::size_t kEntryBytes = 12;

  explicit TiffReader(std::span<const std::byte> data);

  /// Whether byte order and magic number are valid.
  bool is_valid() const;
  bool is_little_endian() const { return is_little_endian_; }

  /// Returns a number of 2 or 4 bytes; 0 beyond the end.
  std::uint32_t at(std::size_t offset, std::size_t bytes) const;

  std::size_t first_directory() const { return at(4, 4); }
  /// Returns how many entries are complete.
  std::size_t entries(std::size_t directory) const;
  static std::size_t entry(std::size_t directory, std::size_t index) {
    return directory + 2 + index * kEntryBytes;
  }
  /// Returns the offset of the offset of the next directory.
  std::size_t end_of_entries(std::size_t directory) const {
    return entry(directory, entries(directory));
  }
  std::optional<std::size_t> find(std::size_t directory, std::uint32_t tag) const;

  std::uint32_t type_of(std::size_t entry) const { return at(entry + 2, 2); }
  /// Returns the bytes of all values of the entry.
  std::uint64_t value_bytes(std::size_t entry) const;
  /// Returns the offset of the values; they are in the entry itself if they fit.
  std::size_t value_offset(std::size_t entry) const {
    return value_bytes(entry) <= 4 ? entry + 8 : at(entry + 8, 4);
  }
  /// Returns the first value, a SHORT or LONG; 0 if it has another type.
  std::uint32_t integer(std::size_t entry) const;

 private:
  std::span<const std::byte> data_;
  bool is_little_endian_;
};

}  // namespace eckart::codec
