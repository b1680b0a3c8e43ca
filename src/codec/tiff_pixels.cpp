#include "codec/tiff_pixels.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include "codec/alpha.hpp"
#include "codec/image_codecs.hpp"
#include "codec/packed_samples.hpp"

namespace eckart::codec {
namespace {

/// The type of indices of a palette and of samples of less than 8 bits.
template <class T>
constexpr bool kMayBeNarrow = sizeof(T) == 1;

/// A part of a row as libtiff returns it.
struct RowPart {
  const std::byte* bytes;
  int row, col, cols;
  int channel;  ///< of planar storage; otherwise 0
};

/// Writes rows to a picture. T is the type of samples.
template <class T>
class RowWriter {
 public:
  RowWriter(const TiffLayout& layout, Picture& picture)
      : layout_(layout), picture_(picture), samples_(layout.is_planar ? 1 : layout.samples()) {}

  void write(const RowPart& part) {
    const T* from = unpack(part);
    for (int i = 0; i < samples_; ++i) {
      const int channel = part.channel + i;
      if (!layout_.palette.empty()) {
        write_colors(part, from);
        continue;
      }
      const bool is_color = channel < layout_.shape.channels;
      const MatrixView<T> plane =
          is_color ? picture_.pixels.plane<T>(channel) : picture_.alpha.plane<T>(0);
      for (int c = 0; c < part.cols; ++c) plane(part.row, part.col + c) = from[c * samples_ + i];
      if (is_color && layout_.is_inverted) invert(plane, part);
    }
  }

 private:
  static void invert(const MatrixView<T>& plane, const RowPart& part) {
    constexpr T kPeak = std::numeric_limits<T>::max();
    for (int c = part.col; c < part.col + part.cols; ++c)
      plane(part.row, c) = T(kPeak - plane(part.row, c));
  }

  /// Returns samples of full range, or indices of a palette.
  const T* unpack(const RowPart& part) {
    if (!kMayBeNarrow<T> || layout_.bits >= 8) return reinterpret_cast<const T*>(part.bytes);
    narrow_.resize(std::size_t(part.cols));
    unpack_samples(part.bytes, layout_.bits, narrow_);
    const unsigned scale = layout_.palette.empty() ? 255U / ((1U << layout_.bits) - 1) : 1;
    wide_.resize(narrow_.size());
    std::ranges::transform(narrow_, wide_.begin(),
                           [&](std::uint8_t sample) { return T(sample * scale); });
    return wide_.data();
  }

  void write_colors(const RowPart& part, const T* indices) {
    if constexpr (kMayBeNarrow<T>) {
      for (int channel = 0; channel < 3; ++channel) {
        const MatrixView<T> plane = picture_.pixels.plane<T>(channel);
        for (int c = 0; c < part.cols; ++c)
          plane(part.row, part.col + c) = layout_.palette[indices[c]][std::size_t(channel)];
      }
    }
  }

  const TiffLayout& layout_;
  Picture& picture_;
  const int samples_;
  std::vector<std::uint8_t> narrow_;
  std::vector<T> wide_;
};

template <class WriteRow>
void read_strips(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline, std::byte* buffer,
                 const WriteRow& write_row) {
  for (int channel = 0; channel < (layout.is_planar ? layout.samples() : 1); ++channel) {
    for (int row = 0; row < layout.shape.rows; ++row) {
      if (deadline.passed()) deadline.throw_too_large();
      tiff.check(TIFFReadScanline(tiff.get(), buffer, std::uint32_t(row), std::uint16_t(channel)) ==
                 1);
      write_row({buffer, row, 0, layout.shape.cols, channel});
    }
  }
}

template <class WriteRow>
void read_tiles(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline, std::byte* buffer,
                const WriteRow& write_row) {
  const auto row_bytes = std::size_t(TIFFTileRowSize(tiff.get()));
  const ImageShape& shape = layout.shape;
  for (int channel = 0; channel < (layout.is_planar ? layout.samples() : 1); ++channel) {
    for (std::int64_t top = 0; top < shape.rows; top += layout.tile_rows) {
      for (std::int64_t left = 0; left < shape.cols; left += layout.tile_cols) {
        if (deadline.passed_now()) deadline.throw_too_large();
        tiff.check(TIFFReadTile(tiff.get(), buffer, std::uint32_t(left), std::uint32_t(top), 0,
                                std::uint16_t(channel)) > 0);
        const int rows = int(std::min<std::int64_t>(layout.tile_rows, shape.rows - top));
        const int cols = int(std::min<std::int64_t>(layout.tile_cols, shape.cols - left));
        for (int row = 0; row < rows; ++row)
          write_row(
              {buffer + std::size_t(row) * row_bytes, int(top) + row, int(left), cols, channel});
      }
    }
  }
}

/// p peak / a, 0 where a is 0. Integers are rounded to the nearest level, at most the peak.
template <class T>
T divide_by_alpha(T sample, T alpha) {
  if (alpha == 0) return T(0);
  if constexpr (std::is_floating_point_v<T>) {
    return T(double(sample) / double(alpha));
  } else {
    constexpr std::uint64_t kPeak = std::numeric_limits<T>::max();
    return T(std::min(kPeak, (sample * kPeak + alpha / 2) / alpha));
  }
}

template <class T>
void divide_by_alpha(Picture& picture) {
  const auto channels = std::size_t(picture.pixels.shape().channels);
  auto* sample = reinterpret_cast<T*>(picture.pixels.data());
  const auto* alpha = reinterpret_cast<const T*>(picture.alpha.data());
  for (std::size_t i = 0; i < picture.alpha.shape().samples(); ++i) {
    for (std::size_t c = 0; c < channels; ++c, ++sample)
      *sample = divide_by_alpha(*sample, alpha[i]);
  }
}

/// Larger magnitudes stand for missing data, such as -3.4028235e38 in maps of heights.
constexpr float kMaxMagnitude = 1e30F;

const char* describe_wrong_sample(float sample) {
  if (std::isnan(sample)) return " that is not a number";
  return std::isinf(sample) ? " that is infinite" : " above 1e30, as they stand for missing data,";
}

/// Throws if a sample is NaN, infinite or too large, with the position of the first one.
void check_finite(const Image& image, const std::string& what) {
  const ImageShape& shape = image.shape();
  const auto* samples = reinterpret_cast<const float*>(image.data());
  const auto* end = samples + shape.samples();
  const auto* found =
      std::find_if_not(samples, end, [](float s) { return std::abs(s) <= kMaxMagnitude; });
  if (found == end) return;
  const std::ptrdiff_t pixel = (found - samples) / shape.channels;
  fail_unsupported(
      "has " + what + describe_wrong_sample(*found) + " at row " +
      std::to_string(pixel / shape.cols) + ", column " + std::to_string(pixel % shape.cols) +
      (shape.channels == 1 ? ""
                           : ", channel " + std::to_string((found - samples) % shape.channels)) +
      " (counted from 0); replace it first");
}

template <class T>
Picture read_pixels(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline) {
  Picture picture;
  picture.pixels = Image(layout.shape);
  if (layout.alpha != TiffAlpha::none) picture.alpha = Image(alpha_shape(layout.shape));
  std::vector<std::byte> buffer(layout.chunk_bytes);
  RowWriter<T> writer(layout, picture);
  const auto write_row = [&](const RowPart& part) { writer.write(part); };
  TIFFGetStrileByteCount(tiff.get(), 0);  // reads the table, of which warnings do not count
  tiff.refuse_warnings();
  if (layout.tile_rows == 0) {
    read_strips(tiff, layout, deadline, buffer.data(), write_row);
  } else {
    read_tiles(tiff, layout, deadline, buffer.data(), write_row);
  }
  if constexpr (std::is_floating_point_v<T>) check_finite(picture.pixels, "a sample");
  if (layout.alpha == TiffAlpha::associated) divide_by_alpha<T>(picture);
  if constexpr (std::is_floating_point_v<T>) {
    if (!picture.alpha.empty()) check_finite(picture.alpha, "alpha");
    check_finite(picture.pixels, "a sample, divided by alpha,");
  }
  return picture;
}

}  // namespace

Picture read_tiff_pixels(TiffFile& tiff, const TiffLayout& layout, Deadline& deadline) {
  return with_sample_type(layout.shape.depth,
                          [&]<class T>(T*) { return read_pixels<T>(tiff, layout, deadline); });
}

}  // namespace eckart::codec
