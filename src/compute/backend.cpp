#include "compute/backend.hpp"

#include <algorithm>
#include <stdexcept>

namespace eckart {

PaddedShape padded_shape(const ImageShape& shape, int multiple) {
  const auto round_up = [multiple](int n) { return (n + multiple - 1) / multiple * multiple; };
  return {round_up(std::max(shape.rows, shape.cols)), round_up(std::min(shape.rows, shape.cols))};
}

BatchKey batch_key(const Task& task, int multiple) {
  return {padded_shape(task.input.shape(), multiple), {task.ranks.begin(), task.ranks.end()}};
}

std::string to_string(SolverKind kind) {
  switch (kind) {
    case SolverKind::automatic:
      return "auto";
    case SolverKind::gram:
      return "gram";
    case SolverKind::subspace:
      return "subspace";
    case SolverKind::gesvd:
      return "gesvd";
    case SolverKind::gesvdj:
      return "gesvdj";
  }
  return "?";
}

SolverKind parse_solver(const std::string& name) {
  for (const SolverKind kind : {SolverKind::automatic, SolverKind::gram, SolverKind::subspace,
                                SolverKind::gesvd, SolverKind::gesvdj}) {
    if (name == to_string(kind)) return kind;
  }
  throw std::invalid_argument("solver '" + name +
                              "': expected auto, gram, subspace, gesvd or gesvdj");
}

}  // namespace eckart
