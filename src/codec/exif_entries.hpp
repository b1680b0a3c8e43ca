#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "codec/tiff_directory.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// What EXIF data and TIFF files have in common.
struct ExifEntries {
  std::vector<TiffEntry> first{};  ///< texts, such as maker and copyright; resolution
  std::vector<TiffEntry> exif{};   ///< of the EXIF directory: exposure, dates and so on
  std::vector<TiffEntry> gps{};    ///< of the directory of positions

  bool empty() const { return first.empty() && exif.empty() && gps.empty(); }
};

/// Reads entries from EXIF data, or from the first page of a TIFF file; none from a BigTIFF. Leaves
/// out what is damaged. Returns nullopt if the values exceed `max_bytes`.
std::optional<ExifEntries> read_exif_entries(std::span<const std::byte> tiff,
                                             std::size_t max_bytes);

/// Adds entries to EXIF data or a TIFF file, which are valid, or to nothing: then it becomes EXIF
/// data.
void write_exif_entries(const ExifEntries& entries, std::vector<std::byte>& tiff);

/// Returns the EXIF data of a picture, with its density, and with its texts for formats that have
/// no other place for them: `Software`, and the others as lines of ImageDescription.
std::vector<std::byte> described_exif(const PictureView& picture);

/// Removes from ImageDescription what is not true of an image that is made from this one: the lines
/// that described_exif() adds, and what tifffile, ImageJ or OME-TIFF say of the storage of pixels.
void remove_description(std::vector<std::byte>& exif);

}  // namespace eckart::codec
