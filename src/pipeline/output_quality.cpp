#include "pipeline/output_quality.hpp"

#include <algorithm>

#include "core/quality.hpp"

namespace eckart {

double psnr_of_output(const Task& task, std::size_t output) {
  double squared_error = 0;
  for (const PlaneResult& plane : task.results[output]) squared_error += plane.squared_error;
  const ImageShape& shape = task.input.shape();
  return psnr_db(squared_error, shape.samples(), peak(shape.depth));
}

telemetry::OutputLine line_of_output(const WorkItem& item, std::size_t output) {
  const ImageShape& shape = item.task.input.shape();
  telemetry::OutputLine line{.file = item.file,
                             .output = item.outputs[output],
                             .rows = shape.rows,
                             .cols = shape.cols,
                             .channels = shape.channels,
                             .bits = 8 * int(shape.depth),
                             .psnr_db = psnr_of_output(item.task, output)};
  for (const PlaneResult& plane : item.task.results[output]) {
    line.rank = std::max(line.rank, plane.rank);
    line.most_loss_db = std::max(line.most_loss_db, plane.most_loss_db);
    line.done_again += plane.done_again;
    line.energy.push_back(plane.energy);
  }
  return line;
}

void add_to(telemetry::ImageReport& report, const WorkItem& item) {
  const Result result = item.outcome.result;
  if (result == Result::failed) return report.add_failure(item.file, item.outcome);
  if (result != Result::skipped && result != Result::done) return;
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (item.is_done_before(i)) {
      report.add_skipped(item.file, item.outputs[i], *item.done_before[i]);
    } else if (result == Result::done) {
      report.add(line_of_output(item, i));
    }
  }
}

}  // namespace eckart
