#include "codec/factors_file.hpp"

#include <algorithm>
#include <array>
#include <type_traits>
#include <utility>

#include "codec/factors_format.hpp"
#include "codec/half_float.hpp"
#include "codec/npz.hpp"

namespace eckart::codec {
namespace {

using namespace factors_format;

template <class T>
NpyArray array_of(std::string name, Shape shape, std::span<const T> values) {
  const auto bytes = std::as_bytes(values);
  return {std::move(name), kDtype<T>, std::move(shape), {bytes.begin(), bytes.end()}};
}

template <class T>
NpyArray number_array(std::string name, T value) {
  return array_of<T>(std::move(name), {}, std::span(&value, 1));
}

NpyArray text_array(std::string name, std::string_view text) {
  const std::u32string wide(text.begin(), text.end());
  const auto bytes = std::as_bytes(std::span(wide));
  return {std::move(name), "<U" + std::to_string(wide.size()), {}, {bytes.begin(), bytes.end()}};
}

/// A number of U and V in a file.
template <class Stored>
Stored stored(float value) {
  if constexpr (std::is_same_v<Stored, float>) return value;
  return to_half(value);
}

/// U of all matrices, each rows x rank, padded to `rank` columns.
template <class Stored>
NpyArray stacked_u(std::span<const Factors> matrices, int rank) {
  const int rows = matrices[0].rows;
  std::vector<Stored> all(matrices.size() * std::size_t(rows) * std::size_t(rank));
  auto row_begin = all.begin();
  for (const Factors& matrix : matrices) {
    const auto own = std::size_t(matrix.rank());
    for (std::size_t row = 0; row < std::size_t(rows); ++row, row_begin += rank)
      std::transform(&matrix.u[row * own], &matrix.u[row * own] + own, row_begin, stored<Stored>);
  }
  return array_of<Stored>("U", {std::int64_t(matrices.size()), rows, rank}, all);
}

/// V' of all matrices, each rank x cols, padded to `rank` rows.
template <class Stored>
NpyArray stacked_vt(std::span<const Factors> matrices, int rank) {
  const int cols = matrices[0].cols;
  const std::size_t stride = std::size_t(rank) * std::size_t(cols);
  std::vector<Stored> all(matrices.size() * stride);
  for (std::size_t c = 0; c < matrices.size(); ++c)
    std::ranges::transform(matrices[c].vt, all.begin() + std::ptrdiff_t(c * stride),
                           stored<Stored>);
  return array_of<Stored>("Vt", {std::int64_t(matrices.size()), rank, cols}, all);
}

NpyArray stacked_s(std::span<const Factors> matrices, int rank) {
  std::vector<double> all(matrices.size() * std::size_t(rank));
  for (std::size_t c = 0; c < matrices.size(); ++c)
    std::ranges::copy(matrices[c].s, all.begin() + std::ptrdiff_t(c * std::size_t(rank)));
  return array_of<double>("s", {std::int64_t(matrices.size()), rank}, all);
}

}  // namespace

std::vector<std::byte> encode_factors(const ImageShape& shape, ColorMode color,
                                      const SampleStatistics& samples,
                                      std::span<const Factors> matrices, FactorType type) {
  std::vector<std::int32_t> ranks;
  std::vector<double> norms;
  for (const Factors& matrix : matrices) {
    ranks.push_back(matrix.rank());
    norms.push_back(matrix.squared_norm);
  }
  const int rank = *std::ranges::max_element(ranks);
  const auto count = std::int64_t(matrices.size());
  const std::array<std::int32_t, 3> sides{shape.rows, shape.cols, shape.channels};
  std::vector<NpyArray> arrays;
  arrays.push_back(number_array(kVersionName, kVersion));
  arrays.push_back(array_of<std::int32_t>("shape", {3}, sides));
  arrays.push_back(text_array(
      "depth", std::ranges::find(kDepthNames, shape.depth, &EnumName<Depth>::value)->name));
  arrays.push_back(text_array("color", to_string(color)));
  arrays.push_back(array_of<std::int32_t>("rank", {count}, ranks));
  arrays.push_back(array_of<double>("squared_norm", {count}, norms));
  arrays.push_back(array_of<double>("mean", {std::int64_t(samples.mean.size())}, samples.mean));
  arrays.push_back(number_array("min", samples.min));
  arrays.push_back(number_array("max", samples.max));
  arrays.push_back(stacked_s(matrices, rank));
  if (type == FactorType::float16) {
    arrays.push_back(stacked_u<std::uint16_t>(matrices, rank));
    arrays.push_back(stacked_vt<std::uint16_t>(matrices, rank));
  } else {
    arrays.push_back(stacked_u<float>(matrices, rank));
    arrays.push_back(stacked_vt<float>(matrices, rank));
  }
  return write_npz(arrays);
}

}  // namespace eckart::codec
