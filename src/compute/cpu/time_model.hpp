#pragma once

#include "compute/backend.hpp"

namespace eckart::compute::cpu {

/// Predicts how long the CPU backend computes, before there is one. Thread-safe.
class TimeModel {
 public:
  /// The options that the backend would get.
  explicit TimeModel(const BackendOptions& options);

  /// The number of lanes that the backend would have.
  int lanes() const { return lanes_; }

  /// The predicted seconds of one lane for one plane of this shape, without padding, and its
  /// largest rank. `is_complete`: all its singular values are needed, for a spectrum or a rank that
  /// depends on them. Infinity if there is no cost model for the solver that the options ask for.
  double plane_seconds(PaddedShape shape, int rank, bool is_complete) const;

 private:
  const SolverKind solver_;
  const Certificate certificate_;
  const int lanes_;
  const SolverCosts costs_;
};

}  // namespace eckart::compute::cpu
