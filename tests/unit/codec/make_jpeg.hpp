#pragma once

// jpeglib.h wants FILE and size_t.
// clang-format off
#include <cstdio>
#include <jpeglib.h>
// clang-format on

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Kinds of JPEG that our encoder does not write.
struct JpegOptions {
  bool progressive = false;
  bool interleaved = true;           ///< if not, and not progressive: a scan for each channel
  bool has_refinement_scans = true;  ///< progressive: the lower bits in scans of their own
  int chroma_cols = 1;               ///< pixels of a row that share a sample of color: 1, 2 or 4
  int chroma_rows = 1;               ///< 1 or 2
  int restart_interval = 0;          ///< in blocks
  int quality = 90;
  bool arithmetic = false;
};

inline Bytes make_jpeg(const Image& image, const JpegOptions& kind) {
  const ImageShape& shape = image.shape();
  jpeg_compress_struct info{};
  jpeg_error_mgr errors{};
  info.err = jpeg_std_error(&errors);  // ends the program
  jpeg_create_compress(&info);
  unsigned char* file = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&info, &file, &size);
  info.image_width = JDIMENSION(shape.cols);
  info.image_height = JDIMENSION(shape.rows);
  info.input_components = shape.channels;
  info.in_color_space = shape.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, kind.quality, TRUE);
  info.comp_info[0].h_samp_factor = shape.channels == 1 ? 1 : kind.chroma_cols;
  info.comp_info[0].v_samp_factor = shape.channels == 1 ? 1 : kind.chroma_rows;
  info.arith_code = kind.arithmetic;
  info.restart_interval = unsigned(kind.restart_interval);
  std::vector<jpeg_scan_info> scans;
  if (kind.progressive && kind.has_refinement_scans) {
    jpeg_simple_progression(&info);
  } else if (kind.progressive || !kind.interleaved) {
    const int last_of_first = kind.progressive ? 0 : 63;
    for (int c = 0; c < shape.channels; ++c) scans.push_back({1, {c}, 0, last_of_first, 0, 0});
    for (int c = 0; kind.progressive && c < shape.channels; ++c)
      scans.push_back({1, {c}, 1, 63, 0, 0});
    info.scan_info = scans.data();
    info.num_scans = int(scans.size());
  }
  jpeg_start_compress(&info, TRUE);
  const std::size_t stride = std::size_t(shape.cols) * std::size_t(shape.channels);
  while (info.next_scanline < info.image_height) {
    auto* row = reinterpret_cast<JSAMPROW>(const_cast<std::byte*>(image.data())) +
                info.next_scanline * stride;
    jpeg_write_scanlines(&info, &row, 1);
  }
  jpeg_finish_compress(&info);
  jpeg_destroy_compress(&info);
  const auto* begin = reinterpret_cast<const std::byte*>(file);
  Bytes bytes(begin, begin + size);
  std::free(file);
  return bytes;
}

/// Where the n-th marker of this kind stands, from 0.
inline std::ptrdiff_t find_marker(const Bytes& file, int marker, int n = 0) {
  const std::byte both[] = {std::byte(0xFF), std::byte(marker)};
  auto found = std::search(file.begin(), file.end(), both, both + 2);
  for (; n > 0; --n) found = std::search(found + 2, file.end(), both, both + 2);
  return found - file.begin();
}

inline Bytes with_inserted(Bytes file, std::ptrdiff_t at, std::string_view what) {
  const auto* begin = reinterpret_cast<const std::byte*>(what.data());
  file.insert(file.begin() + at, begin, begin + what.size());
  return file;
}

/// A file whose header tells another size than its data have. `marker` starts its frame header.
inline Bytes with_announced_size(Bytes file, int marker, int rows, int cols) {
  // The marker, a length of two bytes and the precision are before the size.
  auto at = file.begin() + find_marker(file, marker) + 5;
  for (const int part : {rows >> 8, rows & 0xFF, cols >> 8, cols & 0xFF}) *at++ = std::byte(part);
  return file;
}

/// A small file that takes long: its last scan, which is to hold all bits of one channel, comes
/// this often.
inline Bytes with_last_scan_repeated(const Bytes& file, int times) {
  std::ptrdiff_t scan = find_marker(file, 0xDA);
  for (int n = 1; find_marker(file, 0xDA, n) < std::ptrdiff_t(file.size()); ++n)
    scan = find_marker(file, 0xDA, n);
  Bytes repeated(file.begin(), file.end() - 2);
  for (int i = 1; i < times; ++i)
    repeated.insert(repeated.end(), file.begin() + scan, file.end() - 2);
  repeated.insert(repeated.end(), file.end() - 2, file.end());
  return repeated;
}

}  // namespace eckart::test
