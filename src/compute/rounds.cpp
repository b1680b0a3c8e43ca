#include "compute/rounds.hpp"

#include <algorithm>

#include "core/quality.hpp"

namespace eckart {
namespace {

constexpr int kFew = 100;        // one in so many is done again rather
constexpr double kGuess = 50;    // a round less loses less than so many times as much
constexpr double kDoubtful = 2;  // what the last round less has shown, times this

}  // namespace

void Rounds::learn(int rounds, int planes, int unsettled, double worst_db) {
  if (rounds != next_) return;
  if (kFew * unsettled > planes) {
    next_ = std::min(next_ + 1, kMost);
    with_one_more_db_ = 0;
    return;
  }
  if (unsettled > 0 || next_ == kFewest) return;
  const bool shown = with_one_more_db_ > 0;
  const double factor =
      shown ? std::clamp(kDoubtful * worst_db / with_one_more_db_, kDoubtful, kGuess) : kGuess;
  if (factor * worst_db >= kMostLossDb) return;
  --next_;
  with_one_more_db_ = worst_db;
}

}  // namespace eckart
