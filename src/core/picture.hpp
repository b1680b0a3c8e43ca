#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/factors.hpp"
#include "core/image.hpp"

namespace eckart {

/// How the samples of a DICOM image become values: slope x (sample - offset) + intercept. They are
/// not converted. If the image is inverted, `sample` is 2^bits_stored - 1 - sample.
struct DicomValues {
  int bits_stored = 0;
  bool is_inverted = false;  ///< MONOCHROME1: the smallest value is white
  int offset = 0;            ///< added to samples that are stored with a sign
  double slope = 1, intercept = 0;
  std::optional<double> window_center, window_width;
  friend bool operator==(const DicomValues&, const DicomValues&) = default;
};

/// The bits of a sample that are used, for analysis::resolve_peak(); 0 if all are.
inline int bits_stored(const std::optional<DicomValues>& dicom) {
  return dicom ? dicom->bits_stored : 0;
}

/// The size of a pixel.
struct PixelDensity {
  std::uint32_t x = 0, y = 0;  ///< pixels per meter, not 0
  bool is_ratio = false;       ///< only the ratio x : y is known
  friend bool operator==(const PixelDensity&, const PixelDensity&) = default;
};

/// What a PNG says about its colors without an ICC profile, with the values of its chunks.
/// PNG (third edition), 11.3.2.
struct PngColor {
  std::optional<std::uint32_t> gamma{};                          ///< gAMA
  std::optional<std::array<std::uint32_t, 8>> chromaticities{};  ///< cHRM
  std::optional<std::array<std::uint8_t, 4>> cicp{};             ///< cICP
  std::optional<std::uint8_t> rendering_intent{};                ///< sRGB
  friend bool operator==(const PngColor&, const PngColor&) = default;
};

/// How many pixels share a sample of chroma: {1, 1} is 4:4:4, {2, 1} is 4:2:2, {1, 2} is 4:4:0,
/// {2, 2} is 4:2:0.
struct ChromaSubsampling {
  int cols = 1, rows = 1;
  friend auto operator<=>(const ChromaSubsampling&, const ChromaSubsampling&) = default;
};

/// What a file holds besides pixels, as the bytes of the file. Empty if the file has none.
struct Metadata {
  std::vector<std::byte> icc{};   ///< ICC profile
  std::vector<std::byte> exif{};  ///< EXIF data: a TIFF structure, without a prefix "Exif\0\0"
  std::vector<std::byte> xmp{};   ///< XMP packet: XML in UTF-8
  std::optional<PixelDensity> density{};  ///< of the upright image
  PngColor color{};
  std::optional<DicomValues> dicom{};
  std::optional<ChromaSubsampling>
      subsampling{};      ///< if the file is a JPEG in color; of the upright image
  std::string dropped{};  ///< for messages: what was not kept and why; empty: nothing was lost

  /// The memory of the blobs.
  std::size_t bytes() const { return icc.size() + exif.size() + xmp.size(); }
};

/// The contents of an image file.
struct Picture {
  Image pixels;
  Image alpha;  ///< one channel, same rows, cols and depth as the pixels; empty: opaque
  Metadata metadata;
  /// If set, the file has these instead of pixels, and all samples of `pixels` are 0.
  std::optional<ImageFactors> factors{};
};

/// A text to be written into a file, in ASCII.
struct TextEntry {
  std::string keyword, text;
  friend bool operator==(const TextEntry&, const TextEntry&) = default;
};

/// A picture to encode; owns nothing.
struct PictureView {
  const Image& pixels;
  const Image* alpha = nullptr;        ///< null or empty: opaque
  const Metadata* metadata = nullptr;  ///< null: none
  std::span<const TextEntry> texts{};

  // Implicit: an image is a picture.
  PictureView(const Image& image) : pixels(image) {}
  PictureView(const Image& image, const Image& alpha_, const Metadata& metadata_,
              std::span<const TextEntry> texts_ = {})
      : pixels(image), alpha(&alpha_), metadata(&metadata_), texts(texts_) {}

  bool has_alpha() const { return alpha != nullptr && !alpha->empty(); }
};

}  // namespace eckart
