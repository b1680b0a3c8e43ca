#include "pipeline/output_quality.hpp"

#include <algorithm>

#include "core/quality.hpp"

namespace eckart::pipeline {

double output_psnr_db(const compute::Task& task, std::size_t output) {
  double squared_error = 0;
  for (const compute::PlaneResult& plane : task.results[output])
    squared_error += plane.squared_error;
  const ImageShape& shape = task.input.shape();
  return psnr_db(squared_error, shape.samples(), peak(shape.depth));
}

telemetry::OutputMeasurement output_measurement(const WorkItem& item, std::size_t output) {
  const ImageShape& shape = item.task.input.shape();
  telemetry::OutputMeasurement line{.file = item.file,
                                    .output = item.outputs[output],
                                    .rows = shape.rows,
                                    .cols = shape.cols,
                                    .channels = shape.channels,
                                    .bits = 8 * int(shape.depth),
                                    .psnr_db = output_psnr_db(item.task, output)};
  for (const compute::PlaneResult& plane : item.task.results[output]) {
    line.rank = std::max(line.rank, plane.rank);
    line.loss_estimate_db = std::max(line.loss_estimate_db, plane.loss_estimate_db);
    line.loss_bound_db = max_loss_bound_db(line.loss_bound_db, plane.loss_bound_db);
    line.planes_recomputed += plane.is_recomputed;
    line.energy.push_back(plane.energy);
  }
  return line;
}

}  // namespace eckart::pipeline
