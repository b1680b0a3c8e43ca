#include "codec/codec.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "codec/deflate.hpp"
#include "codec/image_codecs.hpp"
#include "codec/opencv_decoder.hpp"
#include "codec/spng_decoder.hpp"
#include "codec/unsupported_formats.hpp"
#include "core/error.hpp"
#include "core/mebibytes.hpp"
#include "text/ascii.hpp"

namespace eckart::codec {
namespace {

constexpr auto kExtensions = std::to_array<EnumName<ImageFormat>>({{ImageFormat::png, "png"},
                                                                   {ImageFormat::jpeg, "jpg"},
                                                                   {ImageFormat::jpeg, "jpeg"},
                                                                   {ImageFormat::jpeg, "jpe"},
                                                                   {ImageFormat::jpeg, "jfif"},
                                                                   {ImageFormat::tiff, "tif"},
                                                                   {ImageFormat::tiff, "tiff"},
                                                                   {ImageFormat::webp, "webp"},
                                                                   {ImageFormat::pnm, "pbm"},
                                                                   {ImageFormat::pnm, "pgm"},
                                                                   {ImageFormat::pnm, "ppm"},
                                                                   {ImageFormat::pnm, "pnm"},
                                                                   {ImageFormat::bmp, "bmp"},
                                                                   {ImageFormat::dicom, "dcm"},
                                                                   {ImageFormat::npz, "npz"}});

std::string size_text(const ImageShape& shape) {
  return std::to_string(shape.rows) + " x " + std::to_string(shape.cols) +
         " pixels (rows x columns)";
}

void check_limit(bool within, const std::string& what, std::string_view key, std::int64_t limit) {
  if (within) return;
  throw ItemError(FailureReason::too_large,
                  what + " exceeds " + std::string(key) + " = " + std::to_string(limit));
}

}  // namespace

std::span<const Codec> codecs(Decoder decoder) {
  const auto make = [](Decoder d) {
    return std::array{png_codec(d), jpeg_codec(d), tiff_codec(),  webp_codec(),
                      pnm_codec(),  bmp_codec(),   dicom_codec(), factors_codec()};
  };
  static const std::array strict = make(Decoder::strict), opencv = make(Decoder::opencv);
  return decoder == Decoder::strict ? strict : opencv;
}

std::string codec_libraries() {
  const std::string dcmtk = dcmtk_version();
  return "libdeflate " + deflate_version() + ", libspng " + spng_version() +
         ", libjpeg-turbo, libtiff " + tiff_version() + ", libwebp " + webp_version() +
         (dcmtk.empty() ? "" : ", dcmtk " + dcmtk) + ", OpenCV " + opencv_version();
}

const Codec& codec_for(ImageFormat format) {
  return *std::ranges::find(codecs(), format, &Codec::format);
}

const Codec& codec_for(OutputFormat format) { return codec_for(image_format(format)); }

const Codec& detect_codec(FileBytes file, Decoder decoder) {
  constexpr std::size_t kSignatureBytes = 256;  // longer than the signature of any format
  if (file.size() == 0) throw ItemError(FailureReason::empty_file, "the file is empty");
  std::span<const std::byte> first = file.at(0, kSignatureBytes);
  first = first.first(std::min(first.size(), kSignatureBytes));
  for (const Codec& codec : codecs(decoder)) {
    if (codec.sniff(first)) return codec;
  }
  const std::string supported = "; supported formats: " + list_names<ImageFormat>();
  if (const std::string_view name = unsupported_format(first); !name.empty())
    throw ItemError(FailureReason::unsupported, std::string(name) + supported);
  throw ItemError(FailureReason::not_an_image, "unknown file format" + supported);
}

Header admit(const Codec& codec, FileBytes file, const ImageLimits& limits) {
  const std::size_t size = file.size();
  const std::int64_t file_mb = in_mebibytes(size);
  check_limit(file_mb <= limits.file_mb, "a file of " + std::to_string(file_mb) + " MiB",
              "limits.file_mb", limits.file_mb);
  const Header header = codec.read_header(std::move(file));
  check_shape(header.shape, limits);
  check_decode_memory(size + header.min_decode_bytes, limits);
  return header;
}

void check_shape(const ImageShape& shape, const ImageLimits& limits, const std::string& what) {
  const std::string text = what + size_text(shape);
  check_limit(std::max(shape.rows, shape.cols) <= limits.side, text, "limits.side", limits.side);
  check_limit(std::int64_t(shape.rows) * shape.cols <= limits.pixels, text, "limits.pixels",
              limits.pixels);
}

void check_decode_memory(std::size_t bytes, const ImageLimits& limits) {
  const std::int64_t mb = in_mebibytes(bytes);
  check_limit(mb <= limits.decode_mb, "decoding needs " + std::to_string(mb) + " MiB, which",
              "limits.decode_mb", limits.decode_mb);
}

std::optional<ImageFormat> format_of_file_name(std::string_view file_name) {
  const std::size_t dot = file_name.rfind('.');
  if (dot == file_name.npos) return std::nullopt;
  const std::string extension = text::to_lower_ascii(std::string(file_name.substr(dot + 1)));
  const auto found = std::ranges::find(kExtensions, extension, &EnumName<ImageFormat>::name);
  return found == kExtensions.end() ? std::nullopt : std::optional(found->value);
}

std::string image_extensions() {
  std::string text;
  for (const EnumName<ImageFormat>& extension : kExtensions)
    text += (text.empty() ? "." : ", .") + std::string(extension.name);
  return text;
}

bool is_image_file_name(std::string_view file_name) {
  return !file_name.starts_with('.') && format_of_file_name(file_name).has_value();
}

}  // namespace eckart::codec
