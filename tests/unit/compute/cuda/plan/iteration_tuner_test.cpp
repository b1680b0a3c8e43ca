#include "compute/cuda/plan/iteration_tuner.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/quality.hpp"

namespace eckart::compute::cuda {
namespace {

/// Reports a batch of 100 planes that ran next() iterations, and returns the new next().
int next_after(IterationTuner& tuner, int uncertified, double worst_loss_db) {
  tuner.update(tuner.next(), 100, uncertified, worst_loss_db);
  return tuner.next();
}

TEST(IterationTuner, increases_if_many_planes_are_uncertified) {
  IterationTuner tuner;
  EXPECT_EQ(next_after(tuner, 1, 0.005), IterationTuner::kInitial) << "one plane is recomputed";
  EXPECT_EQ(next_after(tuner, 2, 0.005), IterationTuner::kInitial + 1);
  tuner.update(tuner.next(), 4, 1, 0.005);
  EXPECT_EQ(tuner.next(), IterationTuner::kInitial + 2) << "one of four planes is too many";
  for (int i = 0; i < 20; ++i) next_after(tuner, 100, 0);
  EXPECT_EQ(tuner.next(), IterationTuner::kMax);
}

TEST(IterationTuner, decreases_if_all_planes_are_far_below_the_tolerance) {
  IterationTuner tuner;
  EXPECT_EQ(next_after(tuner, 0, 1e-3), IterationTuner::kInitial);
  EXPECT_EQ(next_after(tuner, 1, 1e-6), IterationTuner::kInitial)
      << "not while a plane needs more iterations";
  EXPECT_EQ(next_after(tuner, 0, 1e-6), IterationTuner::kInitial - 1);
  for (int i = 0; i < 20; ++i) next_after(tuner, 0, 0);
  EXPECT_EQ(tuner.next(), IterationTuner::kMin);
}

/// Each iteration less multiplies the loss by six: 0.0005 dB with four iterations, 0.003 dB with
/// three.
TEST(IterationTuner, decreases_to_the_minimum_within_the_tolerance) {
  IterationTuner tuner;
  const auto loss_db = [&] { return 0.0005 * std::pow(6.0, 4 - tuner.next()); };
  for (int i = 0; i < 20; ++i) {
    next_after(tuner, 0, loss_db());
    ASSERT_LT(loss_db(), kMaxLossDb);
  }
  EXPECT_EQ(tuner.next(), 3) << "an assumed growth of 50 would stop at 4";
}

TEST(IterationTuner, begins_with_the_iterations_given) {
  IterationTuner tuner(IterationTuner::kMax);
  EXPECT_EQ(tuner.next(), IterationTuner::kMax);
  EXPECT_EQ(next_after(tuner, 0, 1e-9), IterationTuner::kMax - 1);
}

TEST(IterationTuner, does_not_decrease_right_after_an_increase) {
  IterationTuner tuner;
  ASSERT_EQ(next_after(tuner, 0, 1e-5), 5);
  ASSERT_EQ(next_after(tuner, 0, 1e-4), 4);
  ASSERT_EQ(next_after(tuner, 50, 0.009), 5);
  EXPECT_EQ(next_after(tuner, 0, 1e-3), 5);
  EXPECT_EQ(next_after(tuner, 0, 1e-5), 4) << "unless the loss is far smaller";
}

TEST(IterationTuner, ignores_batches_started_before_the_last_change) {
  IterationTuner tuner;
  const int first = tuner.next();
  tuner.update(first, 100, 0, 1e-9);
  tuner.update(first, 100, 0, 1e-9);
  EXPECT_EQ(tuner.next(), first - 1);
}

}  // namespace
}  // namespace eckart::compute::cuda
