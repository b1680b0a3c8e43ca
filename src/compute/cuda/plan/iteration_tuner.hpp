#pragma once

namespace eckart::cuda {

/// How many rounds block subspace iteration does for the next batch of a shape, by what those
/// before it wanted: one more where more than a few planes missed the bar for want of rounds, one
/// less where all would still be within it. One thread at a time.
class IterationTuner {
 public:
  static constexpr int kInitial = 6, kMin = 2, kMax = 10;

  int next() const { return next_; }

  /// Reports a batch of `planes` planes that ran `iterations`: `uncertified` of them needed more
  /// iterations, and the loss estimate of the others is at most `worst_loss_db`. A batch that ran
  /// another number of iterations than next() is ignored.
  void update(int iterations, int planes, int uncertified, double worst_loss_db);

 private:
  int next_ = kInitial;
  double previous_worst_loss_db_ = 0;  ///< with one more iteration; 0: not known
};

}  // namespace eckart::cuda
