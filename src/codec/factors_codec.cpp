// Reads factors from .npz files.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>

#include "codec/factors_file.hpp"
#include "codec/factors_format.hpp"
#include "codec/half_float.hpp"
#include "codec/image_codecs.hpp"
#include "codec/npz.hpp"

namespace eckart::codec {
namespace {

using namespace factors_format;

[[noreturn]] void fail_array(const std::string& name, const std::string& why) {
  fail_corrupt("NPZ: the array " + name + " " + why);
}

/// The arrays of a file, by name.
class Arrays {
 public:
  explicit Arrays(FileBytes file) : file_(std::move(file)), entries_(list_npz(file_)) {
    if (!find(kVersionName))
      fail_unsupported(std::string("NPZ: not factors of eckart: it has no array ") + kVersionName);
  }

  const NpyEntry& entry(const std::string& name) const {
    const NpyEntry* found = find(name);
    if (!found) fail_corrupt("NPZ: the array " + name + " is missing");
    return *found;
  }
  /// The numbers of an array of this shape.
  template <class T>
  std::vector<T> values(const std::string& name, const Shape& shape) {
    return read<T>(typed(name, kDtype<T>, shape));
  }
  template <class T>
  T number(const std::string& name) {
    return values<T>(name, {}).front();
  }
  std::string text(const std::string& name) {
    const NpyEntry& found = entry(name);
    if (!found.dtype.starts_with("<U") || !found.shape.empty()) fail_array(name, "is no text");
    std::string text;
    for (const char32_t letter : read<char32_t>(found)) {
      if (letter != 0) text += letter < 0x80 ? char(letter) : '?';  // padded with zeros
    }
    return text;
  }
  /// The raw numbers of an array of half floats or floats.
  std::span<const std::byte> factors(const std::string& name, const Shape& shape, bool is_half) {
    return read_npy(file_, typed(name, is_half ? "<f2" : "<f4", shape));
  }

 private:
  const NpyEntry* find(const std::string& name) const {
    const auto found = std::ranges::find(entries_, name, &NpyEntry::name);
    return found == entries_.end() ? nullptr : &*found;
  }
  const NpyEntry& typed(const std::string& name, std::string_view dtype, const Shape& shape) const {
    const NpyEntry& found = entry(name);
    if (found.dtype != dtype) fail_array(name, "has the type " + found.dtype);
    if (found.shape != shape) fail_array(name, "has another shape than expected");
    return found;
  }
  template <class T>
  std::vector<T> read(const NpyEntry& found) {
    const auto bytes = read_npy(file_, found);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }

  FileBytes file_;
  std::vector<NpyEntry> entries_;
};

/// What the small arrays tell.
struct Layout {
  ImageShape shape;  ///< of the image
  ColorMode color = ColorMode::channels;
  ImageShape matrices{};     ///< each channel is one matrix
  int rank = 0;              ///< of the arrays
  std::vector<int> ranks{};  ///< of each matrix
  bool is_half = false;

  std::size_t factor_bytes() const {
    std::size_t bytes = 0;
    for (const int own : ranks) bytes += eckart::factor_bytes(matrices.rows, matrices.cols, own);
    return bytes;
  }
};

Depth read_depth(Arrays& arrays) {
  const std::string name = arrays.text("depth");
  const auto found = std::ranges::find(kDepthNames, name, &EnumName<Depth>::name);
  if (found == kDepthNames.end()) fail_array("depth", "is not uint8, uint16 or float32");
  return found->value;
}

ColorMode read_color(Arrays& arrays) {
  const auto color = parse_enum<ColorMode>(arrays.text("color"));
  if (!color || *color == ColorMode::gray)
    fail_array("color", "is not channels, luma, ycbcr or joint");
  return *color;
}

ImageShape read_shape(Arrays& arrays) {
  constexpr std::int32_t kMaxSide = 1 << 24;  // so that the sides of joint matrices fit
  const auto sides = arrays.values<std::int32_t>("shape", {3});
  for (const std::int32_t side : sides)
    if (side < 1 || side > kMaxSide) fail_array("shape", "is no shape of an image");
  if (sides[2] != 1 && sides[2] != 3) fail_array("shape", "has neither 1 nor 3 channels");
  return {sides[0], sides[1], sides[2], read_depth(arrays)};
}

Layout read_layout(Arrays& arrays) {
  if (arrays.number<std::int32_t>(kVersionName) != kVersion)
    fail_unsupported("NPZ: factors of another version of eckart");
  Layout layout{.shape = read_shape(arrays), .color = read_color(arrays)};
  if (layout.shape.channels == 1 && layout.color == ColorMode::joint)
    fail_array("color", "is joint");
  layout.matrices = matrices_shape(layout.shape, layout.color);
  layout.matrices.depth = layout.shape.depth;
  const auto count = std::int64_t(layout.matrices.channels);
  layout.ranks = arrays.values<std::int32_t>("rank", {count});
  layout.rank = *std::ranges::max_element(layout.ranks);
  const int full = std::min(layout.matrices.rows, layout.matrices.cols);
  if (std::ranges::any_of(layout.ranks, [&](int rank) { return rank < 1 || rank > full; }))
    fail_array("rank", "has a number that is no rank");
  layout.is_half = arrays.entry("U").dtype == "<f2";
  return layout;
}

/// Numbers of U or V. They are those of unit vectors.
std::vector<float> read_numbers(const std::byte* from, std::size_t count, bool is_half) {
  constexpr float kMaxMagnitude = 1.01F;  // after rounding
  std::vector<float> numbers(count);
  if (is_half) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint16_t half = 0;
      std::memcpy(&half, from + i * sizeof half, sizeof half);
      numbers[i] = from_half(half);
    }
  } else {
    std::memcpy(numbers.data(), from, count * sizeof(float));
  }
  if (!std::ranges::all_of(numbers, [](float x) { return std::abs(x) <= kMaxMagnitude; }))
    fail_corrupt("NPZ: a vector in U or Vt has a number above 1, or none");
  return numbers;
}

void check_values(const Factors& matrix) {
  constexpr double kMax = 1e100;
  const auto is_valid = [](double value) { return value >= 0 && value <= kMax; };
  if (!std::ranges::all_of(matrix.s, is_valid))
    fail_array("s", "has a number that is no magnitude");
  if (!is_valid(matrix.squared_norm))
    fail_array("squared_norm", "has a number that is no magnitude");
}

std::vector<Factors> read_matrices(Arrays& arrays, const Layout& layout) {
  const auto rows = std::size_t(layout.matrices.rows), cols = std::size_t(layout.matrices.cols),
             rank = std::size_t(layout.rank), bytes = layout.is_half ? 2 : sizeof(float);
  const auto count = std::int64_t(layout.ranks.size());
  std::vector<Factors> matrices(layout.ranks.size());
  const auto norms = arrays.values<double>("squared_norm", {count});
  const auto values = arrays.values<double>("s", {count, layout.rank});
  const auto u = arrays.factors("U", {count, layout.matrices.rows, layout.rank}, layout.is_half);
  for (std::size_t c = 0; c < matrices.size(); ++c) {
    Factors& matrix = matrices[c];
    const auto own = std::size_t(layout.ranks[c]);
    matrix.rows = layout.matrices.rows;
    matrix.cols = layout.matrices.cols;
    matrix.squared_norm = norms[c];
    const auto first = values.begin() + std::ptrdiff_t(c * rank);
    matrix.s.assign(first, first + std::ptrdiff_t(own));
    check_values(matrix);
    matrix.u.reserve(rows * own);
    for (std::size_t row = 0; row < rows; ++row) {
      const auto numbers =
          read_numbers(u.data() + (c * rows + row) * rank * bytes, own, layout.is_half);
      matrix.u.insert(matrix.u.end(), numbers.begin(), numbers.end());
    }
  }
  const auto vt = arrays.factors("Vt", {count, layout.rank, layout.matrices.cols}, layout.is_half);
  for (std::size_t c = 0; c < matrices.size(); ++c)
    matrices[c].vt = read_numbers(vt.data() + c * rank * cols * bytes,
                                  std::size_t(layout.ranks[c]) * cols, layout.is_half);
  return matrices;
}

SampleStatistics read_statistics(Arrays& arrays, const ImageShape& shape) {
  SampleStatistics samples{arrays.number<double>("min"), arrays.number<double>("max"),
                           arrays.values<double>("mean", {shape.channels})};
  const auto is_finite = [](double value) { return std::isfinite(value); };
  if (!is_finite(samples.min) || !is_finite(samples.max) || samples.min > samples.max ||
      !std::ranges::all_of(samples.mean, is_finite))
    fail_corrupt("NPZ: min, max or mean has a wrong number");
  return samples;
}

Header read_header(FileBytes file) {
  Arrays arrays(std::move(file));
  const Layout layout = read_layout(arrays);
  const std::size_t bytes = layout.shape.bytes() + layout.factor_bytes();
  return {.shape = layout.shape,
          .min_decode_bytes = bytes,
          .max_decode_bytes = bytes,
          .factor_bytes = layout.factor_bytes()};
}

/// The pixels are unknown: all samples are 0.
Picture decode(std::span<const std::byte> file, const ImageLimits&) {
  ImageFactors factors = decode_factors(file);
  Picture picture{.pixels = Image(factors.shape), .alpha = {}, .metadata = {}};
  std::memset(picture.pixels.data(), 0, picture.pixels.bytes());
  picture.factors = std::move(factors);
  return picture;
}

}  // namespace

ImageFactors decode_factors(std::span<const std::byte> file) {
  Arrays arrays{FileBytes(file)};
  const Layout layout = read_layout(arrays);
  return {layout.shape, layout.color, read_statistics(arrays, layout.shape),
          read_matrices(arrays, layout)};
}

Codec factors_codec() {
  return {.format = ImageFormat::npz,
          .extension = kFactorsExtension,
          .sniff = is_npz,
          .read_header = read_header,
          .decode = decode};
}

}  // namespace eckart::codec
