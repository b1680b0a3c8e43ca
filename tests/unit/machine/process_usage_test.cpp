#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "machine/machine_info.hpp"

namespace eckart::machine {
namespace {

TEST(ProcessUsage, has_the_time_the_memory_and_the_threads_of_this_process) {
  constexpr std::int64_t kBytes = std::int64_t(64) << 20;
  const ProcessUsage before = process_usage();
  EXPECT_GT(before.rss_bytes, 0);
  { const std::vector<char> pages(kBytes, 1); }
  const ProcessUsage after = process_usage();
  EXPECT_GT(after.cpu_s, before.cpu_s) << "the pages were written";
  EXPECT_GE(after.peak_rss_bytes, kBytes);
  EXPECT_EQ(after.threads, 1);
}

}  // namespace
}  // namespace eckart::machine
