#include "compute/backend.hpp"

#include <algorithm>

#include "core/round_up.hpp"

namespace eckart::compute {

PaddedShape padded_shape(const ImageShape& shape, int multiple) {
  return {round_up(std::max(shape.rows, shape.cols), multiple),
          round_up(std::min(shape.rows, shape.cols), multiple)};
}

BatchKey batch_key(const Task& task, int multiple) {
  return {padded_shape(task.input.shape(), multiple), {task.ranks.begin(), task.ranks.end()}};
}

}  // namespace eckart::compute
