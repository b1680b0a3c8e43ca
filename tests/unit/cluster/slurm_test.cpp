#include "cluster/slurm.hpp"

#include <gtest/gtest.h>

namespace eckart::cluster {
namespace {

TEST(SlurmState, is_pending_or_running) {
  const SlurmTasks tasks = parse_slurm_states("R\nPD\nCG\nPD\nCF\n");
  EXPECT_EQ(tasks.pending, 3);
  EXPECT_EQ(tasks.running, 2) << "a task that is completing may still write";
  EXPECT_EQ(tasks.unfinished(), 5);
}

TEST(SlurmState, is_gone_after_the_end) { EXPECT_EQ(parse_slurm_states("").unfinished(), 0); }

}  // namespace
}  // namespace eckart::cluster
