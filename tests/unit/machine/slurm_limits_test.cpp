#include "machine/slurm_limits.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <map>
#include <string>

namespace eckart::machine {
namespace {

constexpr int kNoCoreLimit = std::numeric_limits<int>::max();
constexpr std::int64_t kNoMemoryLimit = std::numeric_limits<std::int64_t>::max();

class SlurmLimitTest : public ::testing::Test {
 protected:
  int cores() const { return slurm_core_limit(environment_); }
  std::int64_t memory() const { return slurm_memory_limit(environment_); }

  std::map<std::string, std::string> variables_{{"SLURM_JOB_ID", "7"}};

 private:
  const Environment environment_ = [this](const char* name) {
    const auto found = variables_.find(name);
    return found == variables_.end() ? nullptr : found->second.c_str();
  };
};

TEST_F(SlurmLimitTest, follows_the_cpus_of_the_task) {
  EXPECT_EQ(cores(), kNoCoreLimit);
  variables_["SLURM_CPUS_ON_NODE"] = " 8";
  EXPECT_EQ(cores(), 8);
  variables_["SLURM_CPUS_PER_TASK"] = "4";
  EXPECT_EQ(cores(), 4);
}

TEST_F(SlurmLimitTest, follows_the_memory_of_the_task) {
  EXPECT_EQ(memory(), kNoMemoryLimit);
  variables_["SLURM_CPUS_PER_TASK"] = "4";
  variables_["SLURM_MEM_PER_CPU"] = "1000";
  EXPECT_EQ(memory(), std::int64_t(4000) << 20);
  variables_["SLURM_MEM_PER_NODE"] = "3000";
  EXPECT_EQ(memory(), std::int64_t(3000) << 20);
}

TEST_F(SlurmLimitTest, is_none_without_slurm) {
  variables_ = {{"SLURM_CPUS_PER_TASK", "4"}, {"SLURM_MEM_PER_NODE", "3000"}};
  EXPECT_EQ(cores(), kNoCoreLimit);
  EXPECT_EQ(memory(), kNoMemoryLimit);
}

TEST_F(SlurmLimitTest, ignores_what_is_no_number) {
  variables_["SLURM_CPUS_PER_TASK"] = "4(x2)";
  variables_["SLURM_MEM_PER_NODE"] = "0";
  EXPECT_EQ(cores(), kNoCoreLimit);
  EXPECT_EQ(memory(), kNoMemoryLimit);
}

}  // namespace
}  // namespace eckart::machine
