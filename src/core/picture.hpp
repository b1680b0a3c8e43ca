#pragma once

#include <cstddef>
#include <optional>
#include <vector>

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

/// What a file holds besides pixels, as the bytes of the file. Empty if the file has none.
struct Metadata {
  std::vector<std::byte> icc;   ///< ICC profile
  std::vector<std::byte> exif;  ///< EXIF data: a TIFF structure, without a prefix "Exif\0\0"
  std::vector<std::byte> xmp;   ///< XMP packet: XML in UTF-8
  std::optional<DicomValues> dicom;
};

/// The contents of an image file.
struct Picture {
  Image pixels;
  Image alpha;  ///< one channel, same rows, cols and depth as the pixels; empty: opaque
  Metadata metadata;
};

/// A picture to encode; owns nothing.
struct PictureView {
  const Image& pixels;
  const Image* alpha = nullptr;        ///< null or empty: opaque
  const Metadata* metadata = nullptr;  ///< null: none

  // Implicit: an image is a picture.
  PictureView(const Image& image) : pixels(image) {}  // NOLINT(google-explicit-constructor)
  PictureView(const Image& image, const Image& alpha_, const Metadata& metadata_)
      : pixels(image), alpha(&alpha_), metadata(&metadata_) {}

  bool has_alpha() const { return alpha != nullptr && !alpha->empty(); }
};

}  // namespace eckart
