#include "compute/cuda/plan/iteration_tuner.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <vector>

#include "core/quality.hpp"

namespace eckart::compute::cuda {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
// Up to this share of planes is recomputed rather than all get another iteration.
constexpr double kMaxUncertifiedShare = 0.01;
// The largest growth of the loss with one iteration less. Assumed if no growth was measured.
constexpr double kMaxLossGrowth = 50;
constexpr double kSafetyFactor = 2;  // factor on the growth measured at the last decrease

}  // namespace

void IterationTuner::update(int iterations, std::span<const double> losses_db) {
  if (iterations != next_ || losses_db.empty()) return;
  std::vector<double> losses(losses_db.begin(), losses_db.end());
  std::ranges::sort(losses, std::greater());
  const auto planes = double(losses.size());
  const auto uncertified = double(std::ranges::count(losses, kInfinity));
  if (uncertified > std::max(kMaxUncertifiedShare, tolerated_share_) * planes) {
    next_ = std::min(next_ + 1, kMax);
    previous_worst_loss_db_ = 0;
    return;
  }
  const double worst_loss_db = losses[std::size_t(tolerated_share_ * planes)];
  if (worst_loss_db == kInfinity || next_ == kMin) return;
  const bool is_measured = previous_worst_loss_db_ > 0;
  const double loss_growth =
      is_measured ? std::clamp(kSafetyFactor * worst_loss_db / previous_worst_loss_db_,
                               kSafetyFactor, kMaxLossGrowth)
                  : kMaxLossGrowth;
  if (loss_growth * worst_loss_db >= kMaxLossDb) return;
  --next_;
  previous_worst_loss_db_ = worst_loss_db;
}

void IterationTuner::learn_from(const IterationTuner& other) {
  next_ = other.next_;
  previous_worst_loss_db_ = other.previous_worst_loss_db_;
}

}  // namespace eckart::compute::cuda
