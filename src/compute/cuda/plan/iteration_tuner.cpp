#include "compute/cuda/plan/iteration_tuner.hpp"

#include <algorithm>

#include "core/quality.hpp"

namespace eckart::compute::cuda {
namespace {

// Up to one plane in 100 is recomputed rather than all get another iteration.
constexpr int kPlanesPerUncertified = 100;
// The largest growth of the loss with one iteration less. Assumed if no growth was measured.
constexpr double kMaxLossGrowth = 50;
constexpr double kSafetyFactor = 2;  // factor on the growth measured at the last decrease

}  // namespace

void IterationTuner::update(int iterations, int planes, int uncertified, double worst_loss_db) {
  if (iterations != next_) return;
  if (kPlanesPerUncertified * uncertified > planes) {
    next_ = std::min(next_ + 1, kMax);
    previous_worst_loss_db_ = 0;
    return;
  }
  if (uncertified > 0 || next_ == kMin) return;
  const bool is_measured = previous_worst_loss_db_ > 0;
  const double loss_growth =
      is_measured ? std::clamp(kSafetyFactor * worst_loss_db / previous_worst_loss_db_,
                               kSafetyFactor, kMaxLossGrowth)
                  : kMaxLossGrowth;
  if (loss_growth * worst_loss_db >= kMaxLossDb) return;
  --next_;
  previous_worst_loss_db_ = worst_loss_db;
}

}  // namespace eckart::compute::cuda
