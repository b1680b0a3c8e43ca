#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {

/// Writes little-endian TIFFs of every kind: the directory first, then its values, then the pixels
/// in one strip or tile, or one for each plane.
class TiffMaker {
 public:
  enum Tag : std::uint16_t {
    kSubfileType = 254,
    kCols = 256,
    kRows = 257,
    kBits = 258,
    kCompression = 259,
    kPhotometric = 262,
    kStripOffsets = 273,
    kOrientation = 274,
    kSamples = 277,
    kRowsPerStrip = 278,
    kStripBytes = 279,
    kPlanar = 284,
    kPalette = 320,
    kTileCols = 322,
    kTileRows = 323,
    kTileOffsets = 324,
    kTileBytes = 325,
    kExtraSamples = 338,
    kSampleFormat = 339,
    kDngVersion = 50706,
  };

  /// `photometric`: 0 white is zero, 1 black is zero, 2 RGB, 3 palette.
  TiffMaker(int cols, int rows, int bits, int samples, int photometric) {
    set(kCols, {cols}).set(kRows, {rows}).set(kCompression, {1}).set(kPhotometric, {photometric});
    set(kSamples, {samples}).set(kBits, std::vector<int>(std::size_t(samples), bits));
  }

  TiffMaker& set(std::uint16_t tag, const std::vector<int>& values) {
    tags_[tag] = values;
    return *this;
  }
  TiffMaker& pixels(std::string_view data) {
    data_ = data;
    return *this;
  }
  /// The pixels are this many planes, one after the other.
  TiffMaker& planes(int count) {
    planes_ = count;
    return set(kPlanar, {2});
  }
  /// Makes the directory name itself as the next.
  TiffMaker& loop() {
    next_ = 8;
    return *this;
  }

  Bytes file() {
    const bool is_tiled = tags_.contains(kTileCols);
    const int plane_bytes = int(data_.size()) / planes_;
    std::vector<int> offsets(std::size_t(planes_), 0);
    set(is_tiled ? kTileOffsets : kStripOffsets, offsets);
    set(is_tiled ? kTileBytes : kStripBytes, std::vector<int>(offsets.size(), plane_bytes));
    if (!is_tiled) set(kRowsPerStrip, tags_[kRows]);
    const std::size_t directory = 8 + 2 + 12 * tags_.size() + 4;
    std::size_t values_size = 0;
    for (const auto& [tag, values] : tags_)
      values_size += values.size() > 1 ? 4 * values.size() : 0;
    for (int i = 0; i < planes_; ++i)
      offsets[std::size_t(i)] = int(directory + values_size) + i * plane_bytes;
    set(is_tiled ? kTileOffsets : kStripOffsets, offsets);
    std::string file("II*\0\10\0\0\0", 8), values_bytes;
    append(file, tags_.size(), 2);
    for (const auto& [tag, values] : tags_) {
      append(file, tag, 2);
      append(file, 4, 2);  // LONG
      append(file, values.size(), 4);
      append(file, values.size() == 1 ? std::size_t(values[0]) : directory + values_bytes.size(),
             4);
      if (values.size() == 1) continue;
      for (const int value : values) append(values_bytes, std::size_t(value), 4);
    }
    append(file, next_, 4);
    file += values_bytes + data_;
    return to_bytes(file);
  }

 private:
  static void append(std::string& to, std::size_t value, int bytes) {
    for (int i = 0; i < bytes; ++i) to += char(value >> 8 * i & 0xFF);
  }

  std::map<std::uint16_t, std::vector<int>> tags_;
  std::string data_;
  int planes_ = 1;
  std::size_t next_ = 0;
};

}  // namespace eckart::test
