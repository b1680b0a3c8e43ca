#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/image_limits.hpp"
#include "io/file_bytes.hpp"

namespace eckart::io {

/// What a file says of its image before its pixels.
struct Header {
  ImageShape shape;  ///< that decode() will give, before EXIF orientation is applied
  /// Memory that decode() takes beside the file, for pixels, coefficients, a turned copy: as far as
  /// the header tells, and the most that it can be.
  std::size_t min_decode_bytes = 0, max_decode_bytes = 0;
  friend bool operator==(const Header&, const Header&) = default;
};

/// One image format: one file in io/, one line in codecs().
struct Codec {
  ImageFormat format;
  std::string_view extension;  ///< of the files we write, without the dot
  /// Whether the file begins as this format does.
  bool (*sniff)(std::span<const std::byte> file);
  /// From the start of the file alone. Throws ItemError.
  Header (*read_header)(FileBytes file);
  /// The pixels of a file that was admitted, upright (EXIF orientation applied: rows and cols may
  /// be swapped). Throws ItemError, also over limits.decode_mb and decode_s; the other limits are
  /// for admit().
  Image (*decode)(std::span<const std::byte> file, const ImageLimits& limits);
  /// Throws ItemError(not_encodable) for images that files of this format cannot hold.
  void (*check_encodable)(const ImageShape& shape);
  /// The file's bytes. Throws ItemError(not_written), and as check_encodable().
  std::vector<std::byte> (*encode)(const Image& image, const EncodeOptions& options);
};

/// Codecs of different decoders encode alike.
std::span<const Codec> codecs(Decoder decoder = Decoder::strict);

/// What decodes and encodes, with versions.
std::string codec_libraries();

const Codec& codec_for(ImageFormat format);

/// By the file's first bytes, never its name. Throws ItemError: empty_file, not_an_image;
/// unreadable.
const Codec& detect_codec(FileBytes file, Decoder decoder = Decoder::strict);

/// The header, checked against the limits. Throws ItemError: too_large, which names the limit's
/// key; unsupported, corrupt; unreadable.
Header admit(const Codec& codec, FileBytes file, const ImageLimits& limits);

/// Throws ItemError(too_large) where what is to be in memory at a time is over limits.decode_mb.
void check_decode_memory(std::size_t bytes, const ImageLimits& limits);

/// True if a file of this name is worth trying when it was found in a folder: a known extension in
/// any case (png, jpg, jpeg, jpe, jfif), not hidden, and not a temporary (`*~`, `*.tmp`, `*.part`,
/// ...).
bool is_image_file_name(std::string_view file_name);

}  // namespace eckart::io
