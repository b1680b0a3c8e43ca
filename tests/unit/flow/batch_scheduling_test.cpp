#include "flow/batch_scheduling.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <thread>

namespace eckart::flow {
namespace {

/// Returns the policy of a new thread that has `policy` and calls use_batch_scheduling().
int policy_after(int policy) {
  int after = -1;
  std::thread([&] {
    const sched_param no_priority{};
    EXPECT_EQ(sched_setscheduler(0, policy, &no_priority), 0);
    use_batch_scheduling();
    after = sched_getscheduler(0);
  }).join();
  return after;
}

TEST(BatchScheduling, replaces_the_default_policy) {
  EXPECT_EQ(policy_after(SCHED_OTHER), SCHED_BATCH);
}

TEST(BatchScheduling, keeps_another_policy) { EXPECT_EQ(policy_after(SCHED_IDLE), SCHED_IDLE); }

TEST(BatchScheduling, changes_only_the_calling_thread) {
  const int before = sched_getscheduler(0);
  std::thread(use_batch_scheduling).join();
  EXPECT_EQ(sched_getscheduler(0), before);
}

}  // namespace
}  // namespace eckart::flow
