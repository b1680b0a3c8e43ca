#include "machine/usable_memory.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <limits>
#include <string>

#include "machine/machine_info.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::machine {
namespace {

TEST(UsableMemory, is_at_most_that_of_the_machine) {
  EXPECT_GT(usable_memory_bytes(), 0);
  EXPECT_LE(usable_memory_bytes(), machine_info().memory_bytes);
}

/// systemd (MemoryHigh=, MemoryMax=) and containers set limits this way.
TEST(UsableMemory, follows_the_cgroup_limits) {
  const test::TempFolder folder;
  const auto set_limit = [&](const std::string& group, const char* name, const char* text) {
    std::filesystem::create_directories(folder.path() / group);
    std::ofstream(folder.path() / group / name) << text << '\n';
  };
  const auto bytes = [&](const char* group) { return cgroup_memory_limit(folder.path(), group); };
  constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(bytes(""), kNone);
  set_limit("system.slice/eckart.service", "memory.high", "max");
  set_limit("system.slice/eckart.service", "memory.max", "max");
  EXPECT_EQ(bytes("system.slice/eckart.service"), kNone);
  set_limit("system.slice/eckart.service", "memory.max", "10000");
  EXPECT_EQ(bytes("system.slice/eckart.service"), 10000);
  set_limit("system.slice/eckart.service", "memory.high", "8000");
  EXPECT_EQ(bytes("system.slice/eckart.service"), 8000);
  EXPECT_EQ(bytes("system.slice/another.service"), kNone);
  set_limit("system.slice", "memory.max", "5000");
  EXPECT_EQ(bytes("system.slice/eckart.service"), 5000) << "what a group above it allows";
  set_limit(".", "memory.max", "4000");  // limit of a container
  EXPECT_EQ(bytes(""), 4000);
}

/// Files in the caches of the kernel do not take memory away from programs.
TEST(AvailableMemory, is_that_of_the_kernel_with_caches) {
  const test::TempFolder folder;
  const std::filesystem::path meminfo = folder.path() / "meminfo";
  EXPECT_EQ(available_memory_bytes(meminfo), 0);
  std::ofstream(meminfo) << "MemTotal:       16000 kB\nMemFree:          500 kB\n"
                            "MemAvailable:    9000 kB\nBuffers:          100 kB\n";
  EXPECT_EQ(available_memory_bytes(meminfo), 9000 * 1024);
  EXPECT_GT(available_memory_bytes(), 0);
}

}  // namespace
}  // namespace eckart::machine
