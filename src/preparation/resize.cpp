#include "preparation/resize.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <vector>

#include "preparation/weighted_sum.hpp"

namespace eckart::preparation {
namespace {

constexpr std::size_t kBlockRows = 32;

template <class T>
T* samples(Image& image) {
  return image.plane<T>(0).data;
}
template <class T>
const T* samples(const Image& image) {
  return image.plane<T>(0).data;
}

ImageShape with_cols(ImageShape shape, int cols) {
  shape.cols = cols;
  return shape;
}
ImageShape with_rows(ImageShape shape, int rows) {
  shape.rows = rows;
  return shape;
}

template <std::size_t kChannels, class T>
void copy_pixel(const T* from, T* to) {
  for (std::size_t c = 0; c < kChannels; ++c) to[c] = from[c];
}

/// Copies rows of `cols` pixels to columns of kBlockRows pixels.
template <std::size_t kChannels, class T>
void copy_to_columns(const T* from, std::size_t rows, std::size_t cols, T* columns) {
  for (std::size_t row = 0; row < rows; ++row) {
    T* to = columns + row * kChannels;
    for (std::size_t col = 0; col < cols; ++col, from += kChannels, to += kBlockRows * kChannels)
      copy_pixel<kChannels>(from, to);
  }
}

template <class T>
auto weights_of(const FilterWeights& filter, std::size_t output) {
  if constexpr (std::is_floating_point_v<T>) {
    return filter.float_of(output);
  } else {
    return filter.of(output);
  }
}

/// Resizes the rows of a block together, as columns: the sums of different rows are independent.
template <class T, std::size_t kChannels>
void resize_rows(const Image& image, const FilterWeights& filter, Image& result) {
  constexpr std::size_t kColumn = kBlockRows * kChannels;  // samples
  const auto rows = std::size_t(image.shape().rows), cols = std::size_t(image.shape().cols);
  const std::size_t out_cols = filter.windows.size();
  std::vector<T> columns(cols * kColumn);
  T sums[kColumn];
  for (std::size_t row = 0; row < rows; row += kBlockRows) {
    const std::size_t block_rows = std::min(kBlockRows, rows - row);
    copy_to_columns<kChannels>(samples<T>(image) + row * cols * kChannels, block_rows, cols,
                               columns.data());
    T* to = samples<T>(result) + row * out_cols * kChannels;
    for (std::size_t col = 0; col < out_cols; ++col, to += kChannels) {
      const T* from = &columns[std::size_t(filter.windows[col].first) * kColumn];
      weighted_sum(from, kColumn, weights_of<T>(filter, col), kColumn, sums);
      for (std::size_t i = 0; i < block_rows; ++i)
        copy_pixel<kChannels>(&sums[i * kChannels], to + i * out_cols * kChannels);
    }
  }
}

template <class T>
void resize_columns(const Image& image, const FilterWeights& filter, Image& result) {
  const std::size_t row_samples =
      std::size_t(image.shape().cols) * std::size_t(image.shape().channels);
  for (std::size_t row = 0; row < filter.windows.size(); ++row) {
    const T* from = samples<T>(image) + std::size_t(filter.windows[row].first) * row_samples;
    weighted_sum(from, row_samples, weights_of<T>(filter, row), row_samples,
                 samples<T>(result) + row * row_samples);
  }
}

template <class T>
Image resize_samples(Image image, int rows, int cols, WeightCache& weights) {
  const ImageShape shape = image.shape();
  if (cols != shape.cols) {
    Image result(with_cols(shape, cols));
    const auto filter = weights.get(shape.cols, cols, shape.depth);
    const auto resize_all = shape.channels == 1 ? resize_rows<T, 1> : resize_rows<T, 3>;
    resize_all(image, *filter, result);
    image = std::move(result);
  }
  if (rows != shape.rows) {
    Image result(with_rows(image.shape(), rows));
    resize_columns<T>(image, *weights.get(shape.rows, rows, shape.depth), result);
    image = std::move(result);
  }
  return image;
}

}  // namespace

Image resize(Image image, int rows, int cols, WeightCache& weights) {
  return with_sample_type(image.shape().depth, [&]<class T>(T*) {
    return resize_samples<T>(std::move(image), rows, cols, weights);
  });
}

std::size_t resize_bytes(const ImageShape& shape, int rows, int cols) {
  const ImageShape between = with_cols(shape, cols), result = with_rows(between, rows);
  const std::size_t block = kBlockRows * with_rows(shape, 1).bytes();
  const std::size_t first = cols == shape.cols ? 0 : shape.bytes() + block + between.bytes();
  const std::size_t second = rows == shape.rows ? 0 : between.bytes() + result.bytes();
  const std::size_t on_device = result == shape ? 0 : shape.bytes() + result.bytes();
  return std::max({shape.bytes(), first, second, on_device});
}

}  // namespace eckart::preparation
