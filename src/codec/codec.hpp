#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "codec/file_bytes.hpp"
#include "codec/jpeg/encoded_image.hpp"
#include "codec/png/encoded_image.hpp"
#include "core/image.hpp"
#include "core/image_format.hpp"
#include "core/image_limits.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// The properties of an image that its file states before the pixels.
struct Header {
  ImageShape shape;  ///< the shape that decode() reads, before EXIF orientation is applied
  /// Memory of decode() besides the file: pixels, coefficients, a rotated copy. The header
  /// determines only a minimum and a maximum.
  std::size_t min_decode_bytes = 0, max_decode_bytes = 0;
  bool may_have_alpha = false;
  std::size_t max_metadata_bytes = 0;  ///< memory of the metadata, besides
  /// If the file has the factors of an image: their memory, which is part of that of decode().
  std::size_t factor_bytes = 0;
  friend bool operator==(const Header&, const Header&) = default;
};

/// The metadata that a format can hold.
struct MetadataLimits {
  static constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();
  std::size_t icc = kNone, exif = kNone, xmp = kNone;  ///< bytes
  bool has_density = true, has_png_color = true;
};

/// What a file has before and behind its pixels, which a backend has encoded: see OutputEncoding.
struct HeadAndTail {
  std::vector<std::byte> head, tail;
};

/// A picture whose pixels are not decoded yet: they have a shape, and no values. `encoded` may
/// refer to the bytes of the file.
struct UndecodedPicture {
  Picture picture;
  std::variant<jpeg::EncodedImage, png::EncodedImage> encoded;
};

/// One image format: one file in codec/, one entry of codecs().
struct Codec {
  ImageFormat format;
  std::string_view extension;  ///< of output files, without the dot
  /// Returns whether the file begins with the signature of this format.
  bool (*sniff)(std::span<const std::byte> file);
  /// Reads only the start of the file. Throws ItemError.
  Header (*read_header)(FileBytes file);
  /// Decodes a file that admit() accepted and applies EXIF orientation (rows and cols may be
  /// swapped). The picture has the alpha of the file, also if it is opaque. Throws ItemError, also
  /// if limits.decode_mb or decode_s is exceeded. admit() checks the other limits.
  Picture (*decode)(std::span<const std::byte> file, const ImageLimits& limits);
  /// Throws ItemError(not_encodable) if the format does not support this shape, or no alpha. Null
  /// for a format that is only read.
  void (*check_encodable)(const ImageShape& shape, bool has_alpha) = nullptr;
  /// Returns the bytes of the file. Throws ItemError(not_written), and as check_encodable(). Null
  /// for a format that is only read.
  std::vector<std::byte> (*encode)(const PictureView& picture,
                                   const EncodeOptions& options) = nullptr;
  MetadataLimits metadata_limits{};
  /// Returns a file that admit() accepted with everything but its pixels, which are not set, and
  /// what a backend needs to decode them; nothing if only decode() can. Null for a format that
  /// backends do not decode.
  std::optional<UndecodedPicture> (*read_undecoded)(std::span<const std::byte> file,
                                                    const ImageLimits& limits) = nullptr;
  /// Returns what encode() writes around the pixels, which are not read. Throws as encode() does.
  /// Null for a format that backends do not encode.
  HeadAndTail (*encode_head_and_tail)(const PictureView& picture,
                                      const EncodeOptions& options) = nullptr;
};

/// The codecs of all decoders encode identically.
std::span<const Codec> codecs(Decoder decoder = Decoder::strict);

/// Returns the names and versions of the libraries that decode and encode.
std::string codec_libraries();

const Codec& codec_for(ImageFormat format);
/// This codec encodes. Requires another format than `none`.
const Codec& codec_for(OutputFormat format);

/// Detects the format from the file signature, never from the name. Throws ItemError: empty_file,
/// not_an_image; unsupported, with the name of the format; unreadable.
const Codec& detect_codec(FileBytes file, Decoder decoder = Decoder::strict);

/// Returns the header, checked against the limits. Throws ItemError: too_large with the key of the
/// limit; unsupported, corrupt; unreadable.
Header admit(const Codec& codec, FileBytes file, const ImageLimits& limits);

/// Throws ItemError(too_large) if the shape exceeds limits.side or limits.pixels. The message
/// begins with `what`.
void check_shape(const ImageShape& shape, const ImageLimits& limits, const std::string& what = "");

/// Throws ItemError(too_large) if `bytes`, the memory in use at one time, exceeds limits.decode_mb.
void check_decode_memory(std::size_t bytes, const ImageLimits& limits);

/// Returns the format that the extension stands for, in any case: png; jpg, jpeg, jpe, jfif; tif,
/// tiff; webp; pbm, pgm, ppm, pnm; bmp; dcm; npz.
std::optional<ImageFormat> format_of_file_name(std::string_view file_name);

/// Returns the extensions that format_of_file_name() knows, for messages: ".png, .jpg, ...".
std::string image_extensions();

/// Returns whether a file in a folder should be tried as an image: format_of_file_name() knows its
/// extension, it is not hidden, and it is not a temporary file (`*~`, `*.tmp`, `*.part`, ...).
bool is_image_file_name(std::string_view file_name);

}  // namespace eckart::codec
