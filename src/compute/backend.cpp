#include "compute/backend.hpp"

#include <algorithm>

#include "core/quality.hpp"
#include "core/round_up.hpp"

namespace eckart::compute {

bool PlaneResult::is_certified(Certificate certificate) const {
  return loss_estimate_db <= kMaxLossDb &&
         (certificate == Certificate::estimate || loss_bound_db <= kMaxLossDb);
}

PaddedShape padded_shape(const ImageShape& shape, int multiple) {
  return {round_up(std::max(shape.rows, shape.cols), multiple),
          round_up(std::min(shape.rows, shape.cols), multiple)};
}

BatchKey batch_key(const Task& task, int multiple) {
  return {padded_shape(task.input.shape(), multiple), task.ranks, task.wants_spectrum};
}

}  // namespace eckart::compute
