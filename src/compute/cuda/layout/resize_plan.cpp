#include "compute/cuda/layout/resize_plan.hpp"

namespace eckart::compute::cuda {
namespace {

FilterPass pass_of(Depth depth) {
  FilterPass pass{};
  pass.sample_bytes = int(depth);
  pass.fraction_bits = preparation::fraction_bits(depth);
  return pass;
}

}  // namespace

void FilterTables::append(const preparation::FilterWeights& filter, FilterPass& pass) {
  pass.windows = std::int64_t(windows.size());
  pass.weights = std::int64_t(weights.size());
  pass.max_count = filter.max_count;
  for (const auto& window : filter.windows) windows.push_back({window.first, window.count});
  weights.insert(weights.end(), filter.weights.begin(), filter.weights.end());
}

FilterPass row_pass(const ImageShape& shape, int cols) {
  FilterPass pass = pass_of(shape.depth);
  pass.lines = shape.rows;
  pass.in_length = shape.cols;
  pass.out_length = cols;
  pass.run = shape.channels;
  return pass;
}

FilterPass column_pass(const ImageShape& shape, int rows) {
  FilterPass pass = pass_of(shape.depth);
  pass.lines = 1;
  pass.in_length = shape.rows;
  pass.out_length = rows;
  pass.run = shape.cols * shape.channels;
  return pass;
}

std::size_t ResizePlan::image_bytes() const {
  std::size_t bytes = 0;
  for (const ImageShape& shape : shapes) bytes += shape.bytes();
  return bytes;
}

ResizePlan plan_resize(const ImageShape& shape, int rows, int cols,
                       preparation::WeightCache& weights) {
  ResizePlan plan{.passes = {}, .shapes = {shape}, .filters = {}};
  const auto add = [&](FilterPass pass, const ImageShape& result) {
    plan.filters.append(*weights.get(pass.in_length, pass.out_length, shape.depth), pass);
    plan.passes.push_back(pass);
    plan.shapes.push_back(result);
  };
  ImageShape result = shape;
  if (cols != shape.cols) {
    result.cols = cols;
    add(row_pass(shape, cols), result);
  }
  if (rows != shape.rows) {
    const FilterPass pass = column_pass(result, rows);
    result.rows = rows;
    add(pass, result);
  }
  return plan;
}

}  // namespace eckart::compute::cuda
