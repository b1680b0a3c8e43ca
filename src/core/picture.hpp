#pragma once

#include <cstddef>
#include <vector>

#include "core/image.hpp"

namespace eckart {

/// What a file holds besides pixels, as the bytes of the file. Empty if the file has none.
struct Metadata {
  std::vector<std::byte> icc;   ///< ICC profile
  std::vector<std::byte> exif;  ///< EXIF data: a TIFF structure, without a prefix "Exif\0\0"
  std::vector<std::byte> xmp;   ///< XMP packet: XML in UTF-8
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
};

}  // namespace eckart
