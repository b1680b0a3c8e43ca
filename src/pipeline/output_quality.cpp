#include "pipeline/output_quality.hpp"

#include <algorithm>

#include "core/quality.hpp"

namespace eckart {

int rank_of_output(const Task& task, std::size_t output) {
  int rank = 0;
  for (const PlaneResult& plane : task.results[output]) rank = std::max(rank, plane.rank);
  return rank;
}

double psnr_of_output(const Task& task, std::size_t output) {
  double squared_error = 0;
  for (const PlaneResult& plane : task.results[output]) squared_error += plane.squared_error;
  const ImageShape& shape = task.input.shape();
  return psnr_db(squared_error, shape.samples(), peak(shape.depth));
}

double most_loss_of_output(const Task& task, std::size_t output) {
  double most = 0;
  for (const PlaneResult& plane : task.results[output]) most = std::max(most, plane.most_loss_db);
  return most;
}

}  // namespace eckart
