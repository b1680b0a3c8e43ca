#include "cluster/slurm.hpp"

#include <gtest/gtest.h>

namespace eckart::cluster {
namespace {

TEST(SlurmState, is_pending_or_running) {
  const SlurmTasks tasks = parse_slurm_states("R None\nPD Priority\nCG None\nPD\nCF None\n");
  EXPECT_EQ(tasks.pending, 3);
  EXPECT_EQ(tasks.running, 2) << "a task that is completing may still write";
  EXPECT_EQ(tasks.unfinished(), 5);
}

TEST(SlurmState, has_the_reason_of_a_held_task_or_of_the_first) {
  const SlurmTasks waits = parse_slurm_states("R None\nPD None\nPD Resources\nPD Priority\n");
  EXPECT_EQ(waits.pending_reason, "Resources");
  EXPECT_FALSE(waits.is_held);
  for (const char* reason : {"launch failed requeued held", "JobHeldUser", "JobHeldAdmin"}) {
    const std::string line = std::string("PD ") + reason + '\n';
    const SlurmTasks held = parse_slurm_states("PD Priority\n" + line + "PD Resources\n");
    EXPECT_EQ(held.pending_reason, reason);
    EXPECT_TRUE(held.is_held);
  }
}

TEST(SlurmState, is_gone_after_the_end) { EXPECT_EQ(parse_slurm_states("").unfinished(), 0); }

}  // namespace
}  // namespace eckart::cluster
