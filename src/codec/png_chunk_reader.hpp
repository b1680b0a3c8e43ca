#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "codec/file_bytes.hpp"

namespace eckart::codec {

inline constexpr std::string_view kPngSignature = "\x89PNG\r\n\x1a\n";

/// The place of a chunk in a file.
struct PngChunk {
  std::string type;
  std::size_t offset = 0, size = 0;  ///< of the data, in the file

  bool is_critical() const { return (type[0] & 0x20) == 0; }

  /// Returns the chunk with length, type and CRC.
  std::span<const std::byte> whole(std::span<const std::byte> file) const {
    return file.subspan(offset - 8, size + 12);
  }
};

/// The chunks of a file, in order. Does not read their data.
class PngChunkReader {
 public:
  explicit PngChunkReader(FileBytes& file) : file_(file) {}

  /// Returns whether the next chunk is complete.
  bool has_next();
  /// Throws ItemError(corrupt) if it is not.
  PngChunk next();

 private:
  FileBytes& file_;
  std::size_t offset_ = kPngSignature.size();
};

}  // namespace eckart::codec
