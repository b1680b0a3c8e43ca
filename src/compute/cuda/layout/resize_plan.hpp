#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "compute/cuda/layout/filter_pass.hpp"
#include "core/image.hpp"
#include "preparation/filter_weights.hpp"

namespace eckart::compute::cuda {

/// The filters of several passes, one after the other, as the kernel takes them.
struct FilterTables {
  std::vector<FilterWindow> windows;
  std::vector<std::int32_t> weights;

  /// Appends a filter and enters its place into the pass.
  void append(const preparation::FilterWeights& filter, FilterPass& pass);
};

/// The pass that makes an image `cols` wide, and the one that makes it `rows` high. Images begin at
/// offset 0, and the filter is not entered.
FilterPass row_pass(const ImageShape& shape, int cols);
FilterPass column_pass(const ImageShape& shape, int rows);

/// The passes that resize one image as preparation::resize() does: first along its rows, then along
/// its columns, and none along a side that keeps its length.
struct ResizePlan {
  std::vector<FilterPass> passes;
  std::vector<ImageShape> shapes;  ///< of the image and of the result of each pass
  FilterTables filters;

  /// The memory of the images.
  std::size_t image_bytes() const;
};
/// The depth must be of integers.
ResizePlan plan_resize(const ImageShape& shape, int rows, int cols,
                       preparation::WeightCache& weights);

}  // namespace eckart::compute::cuda
