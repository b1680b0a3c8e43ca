#include "machine/usable_cores.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>
#include <thread>

#include "tests/support/temp_folder.hpp"

namespace eckart::machine {
namespace {

TEST(UsableCoreCount, follows_the_affinity_mask) {
  EXPECT_GE(usable_cores(), 1);
  std::thread([] {
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
    EXPECT_EQ(usable_cores(), 1);
  }).join();
}

/// systemd (CPUQuota=) and containers set quotas this way.
TEST(UsableCoreCount, follows_the_cgroup_quota) {
  const test::TempFolder folder;
  const auto set_quota = [&](const std::string& group, const std::string& line) {
    std::filesystem::create_directories(folder.path() / group);
    std::ofstream(folder.path() / group / "cpu.max") << line << '\n';
  };
  const auto cores = [&](const char* group) { return cgroup_core_limit(folder.path(), group); };
  constexpr int kNone = std::numeric_limits<int>::max();
  EXPECT_EQ(cores(""), kNone);
  set_quota("system.slice/eckart.service", "max 100000");
  EXPECT_EQ(cores("system.slice/eckart.service"), kNone);
  set_quota("system.slice/eckart.service", "250000 100000");
  EXPECT_EQ(cores("system.slice/eckart.service"), 2);
  EXPECT_EQ(cores("system.slice/another.service"), kNone);
  set_quota("system.slice", "50000 100000");
  EXPECT_EQ(cores("system.slice/eckart.service"), 1) << "what a group above it has left";
  set_quota(".", "400000 100000");  // quota of a container
  EXPECT_EQ(cores(""), 4);
}

}  // namespace
}  // namespace eckart::machine
