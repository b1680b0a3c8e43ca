#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/file_bytes.hpp"
#include "core/picture.hpp"

namespace eckart::codec {

/// How the pixels of a DICOM file are stored.
struct DicomHeader {
  ImageShape shape;  ///< gray
  bool is_compressed = false;
  bool is_inverted = false;  ///< MONOCHROME1: the smallest value is white
  bool is_signed = false;
  int bits_allocated = 0;  ///< 8 or 16
  int bits_stored = 0, high_bit = 0;
  std::string syntax;                                          ///< transfer syntax
  std::size_t pixels = 0;                                      ///< offset of uncompressed pixels
  std::vector<std::pair<std::size_t, std::size_t>> fragments;  ///< offset and size of each
  DicomValues values;

  std::size_t frame_bytes() const;  ///< of all fragments
};

/// Returns whether a file has the signature of DICOM, after 128 bytes.
bool has_dicom_signature(std::span<const std::byte> start);

/// Describes how samples become values: "12 bits stored, value = 1 x sample - 1024, window 40 /
/// 400".
std::string to_string(const DicomValues& values);

/// Reads the elements up to the pixels. Throws ItemError: unsupported, with the kind; corrupt, also
/// if uncompressed pixels are incomplete.
DicomHeader read_dicom_header(FileBytes file);

}  // namespace eckart::codec
