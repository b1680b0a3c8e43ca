#include "pipeline/color_planes.hpp"

#include <cstddef>
#include <utility>
#include <vector>

#include "preparation/color_matrices.hpp"

namespace eckart::pipeline {
namespace {

void divide_levels(std::vector<compute::PlaneResult>& planes, double scale) {
  for (compute::PlaneResult& plane : planes) {
    plane.sigma1 /= scale;
    plane.sigma_threshold /= scale;
    plane.squared_norm /= scale * scale;
    plane.residual /= scale * scale;
    plane.squared_error /= scale * scale;
  }
}

/// Luma changes all channels by the same value.
double luma_residual(const WorkItem& item, std::size_t output) {
  double residual = 0;
  for (const compute::PlaneResult& plane : item.task.results[output]) residual += plane.residual;
  return double(item.image.shape().channels) * residual;
}

void restore_output(WorkItem& item, std::size_t output) {
  compute::Task& task = item.task;
  if (task.outputs[output].empty()) {  // not needed
    item.errors.emplace_back();
    return;
  }
  preparation::RestoredImage restored =
      preparation::restore_colors(item.image, task.input, task.outputs[output], item.color);
  task.outputs[output] = std::move(restored.pixels);
  divide_levels(task.results[output], matrices_scale(item.image.shape(), item.color));
  if (!item.has_known_pixels()) {  // errors of the matrices add up to those of the pixels
    item.errors.push_back(sum_errors(task.results[output]));
    return;
  }
  item.errors.push_back(
      {.residual = item.color == ColorMode::luma ? luma_residual(item, output) : restored.residual,
       .squared_error = restored.squared_error});
}

}  // namespace

void set_matrices(WorkItem& item, Image image, ColorMode mode) {
  const ImageShape shape = image.shape();
  item.image_shape = shape;
  item.color = shape.channels > 1 ? mode : ColorMode::channels;
  if (preparation::has_own_matrices(shape, mode)) {
    item.task.input = preparation::color_matrices(image, mode);
    item.image = std::move(image);
  } else {
    item.task.input = std::move(image).reshaped(matrices_shape(shape, mode));
  }
  item.matrices_shape = item.task.input.shape();
}

void restore_colors(WorkItem& item) {
  compute::Task& task = item.task;
  if (task.input.shape() == item.image_shape && item.image.empty()) return;
  if (item.image.empty()) {
    task.input = std::move(task.input).reshaped(item.image_shape);
    for (Image& output : task.outputs) {
      if (!output.empty()) output = std::move(output).reshaped(item.image_shape);
    }
    return;
  }
  for (std::size_t i = 0; i < task.outputs.size(); ++i) restore_output(item, i);
  const double scale = matrices_scale(item.image_shape, item.color);
  task.peak /= scale;
  for (std::vector<double>& values : task.spectra) {
    for (double& value : values) value /= scale;
  }
  for (Factors& matrix : task.factors) matrix.scale_levels(1 / scale);
  task.input = std::exchange(item.image, {});
}

}  // namespace eckart::pipeline
