#pragma once

namespace eckart {

/// How many rounds block subspace iteration does for the next batch of a shape, by what those
/// before it wanted: one more where more than a few planes missed the bar for want of rounds, one
/// less where all would still be within it. One thread at a time.
class Rounds {
 public:
  static constexpr int kFirst = 6, kFewest = 2, kMost = 10;

  int next() const { return next_; }

  /// A batch of `planes` planes was given `rounds`; `unsettled` of them missed the bar for want of
  /// more, and the others may have lost `worst_db` at most. Batches of other numbers of rounds than
  /// the next one has tell nothing new.
  void learn(int rounds, int planes, int unsettled, double worst_db);

 private:
  int next_ = kFirst;
  double with_one_more_db_ = 0;  ///< what was lost at most with a round more; 0: not known
};

}  // namespace eckart
