#include "core/default_budget.hpp"

#include <gtest/gtest.h>

namespace eckart {
namespace {

constexpr std::int64_t kGiB = 1024;  // in MiB

TEST(DefaultBudget, is_a_16th_of_the_memory_up_to_8_gib) {
  EXPECT_EQ(default_budget_mb(64 * kGiB), 4 * kGiB);
  EXPECT_EQ(default_budget_mb(128 * kGiB), 8 * kGiB);
  EXPECT_EQ(default_budget_mb(2048 * kGiB), 8 * kGiB);
}

TEST(DefaultBudget, is_at_least_2_gib) {
  EXPECT_EQ(default_budget_mb(8 * kGiB), 2 * kGiB);
  EXPECT_EQ(default_budget_mb(24 * kGiB), 2 * kGiB);
  EXPECT_EQ(default_budget_mb(32 * kGiB), 2 * kGiB);
}

TEST(DefaultBudget, leaves_three_quarters_of_a_small_memory) {
  EXPECT_EQ(default_budget_mb(4 * kGiB), kGiB);
  EXPECT_EQ(default_budget_mb(2 * kGiB), kGiB / 2);
  EXPECT_EQ(default_budget_mb(1), 1);
}

}  // namespace
}  // namespace eckart
