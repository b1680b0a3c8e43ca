#include "compute/backend.hpp"

#include <algorithm>

namespace eckart {

PaddedShape padded_shape(const ImageShape& shape, int multiple) {
  const auto round_up = [multiple](int n) { return (n + multiple - 1) / multiple * multiple; };
  return {round_up(std::max(shape.rows, shape.cols)), round_up(std::min(shape.rows, shape.cols))};
}

BatchKey batch_key(const Task& task, int multiple) {
  return {padded_shape(task.input.shape(), multiple), {task.ranks.begin(), task.ranks.end()}};
}

}  // namespace eckart
