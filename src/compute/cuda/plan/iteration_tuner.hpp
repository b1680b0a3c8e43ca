#pragma once

#include <span>

namespace eckart::compute::cuda {

/// Chooses the number of iterations of block subspace iteration for the next batch of a kind, from
/// the results of earlier batches. If too many planes needed more iterations, it is increased by
/// one. If all planes but a tolerated share would be certified with one iteration less, it is
/// decreased by one. Not thread-safe.
class IterationTuner {
 public:
  static constexpr int kInitial = 6, kMin = 2, kMax = 10;

  explicit IterationTuner(int initial = kInitial, double tolerated_share = 0)
      : next_(initial), tolerated_share_(tolerated_share) {}
  int next() const { return next_; }

  /// Reports a batch that ran `iterations`: the loss estimate of each plane, without rounding;
  /// infinity if it needs more iterations. Ignored if `iterations` differs from next().
  void update(int iterations, std::span<const double> losses_db);
  /// Takes over what another tuner has learned.
  void learn_from(const IterationTuner& other);

 private:
  int next_;
  double tolerated_share_;             ///< of planes that need more iterations
  double previous_worst_loss_db_ = 0;  ///< with one more iteration than next(); 0: unknown
};

}  // namespace eckart::compute::cuda
