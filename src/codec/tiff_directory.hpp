#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/tiff_reader.hpp"

namespace eckart::codec {

/// An entry of a directory. TIFF 6.0, section 2.
struct TiffEntry {
  std::uint32_t tag = 0, type = 0, count = 0;
  std::vector<std::byte> values{};  ///< little-endian
};

/// Returns whether all values of the entry are in the data.
bool has_values(const TiffReader& tiff, std::span<const std::byte> data, std::size_t entry);

/// Returns a copy of an entry of a directory in `data`. It must have all its values.
TiffEntry read_entry(std::span<const std::byte> data, std::size_t entry);

/// Writes directories behind a TIFF structure, EXIF data or a file, in its byte order. Offsets in
/// the structure stay valid.
class TiffDirectoryWriter {
 public:
  /// `data`: a TIFF structure that is valid, or empty: then a new one begins.
  explicit TiffDirectoryWriter(std::vector<std::byte>& data);

  /// Adds entries to the first directory, in place of those with the same tags.
  void set(const std::vector<TiffEntry>& entries);

  /// Returns the offset of a new directory.
  std::uint32_t append(const std::vector<TiffEntry>& entries);

 private:
  class Directory;

  std::vector<std::byte>& data_;
};

}  // namespace eckart::codec
