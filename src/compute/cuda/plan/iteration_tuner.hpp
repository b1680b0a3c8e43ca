#pragma once

namespace eckart::compute::cuda {

/// Chooses the number of iterations of block subspace iteration for the next batch of a kind, from
/// the results of earlier batches. If too many planes needed more iterations, it is increased by
/// one. If all planes would be certified with one iteration less, it is decreased by one. Not
/// thread-safe.
class IterationTuner {
 public:
  static constexpr int kInitial = 6, kMin = 2, kMax = 10;

  explicit IterationTuner(int initial = kInitial) : next_(initial) {}
  int next() const { return next_; }

  /// Reports a batch of `planes` planes that ran `iterations`. `uncertified` of them needed more
  /// iterations; the loss estimate of the others is at most `worst_loss_db`. Ignored if
  /// `iterations` differs from next().
  void update(int iterations, int planes, int uncertified, double worst_loss_db);

 private:
  int next_;
  double previous_worst_loss_db_ = 0;  ///< with one more iteration than next(); 0: unknown
};

}  // namespace eckart::compute::cuda
