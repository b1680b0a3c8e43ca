#include "compute/fallback/oom_tracker.hpp"

#include <gtest/gtest.h>

#include "compute/evict_if_full.hpp"

namespace eckart::compute {
namespace {

const OutOfMemory kCause("cudaMalloc failed");

BatchKey key(int rank) { return {{64, 32}, {{rank}}}; }

TEST(OomTracker, limits_each_batch_key_separately) {
  OomTracker oom([](const std::string&) {});
  oom.record_batch_oom(key(20), 8, kCause);
  EXPECT_EQ(oom.limit_planes(key(20), 8), 4);
  EXPECT_EQ(oom.limit_planes(key(5), 8), 8);
}

TEST(OomTracker, does_not_raise_a_limit) {
  OomTracker oom([](const std::string&) {});
  oom.record_batch_oom(key(20), 8, kCause);
  oom.record_batch_oom(key(20), 16, kCause);  // from another lane, started earlier
  EXPECT_EQ(oom.limit_planes(key(20), 16), 4);
  oom.record_batch_oom(key(20), 4, kCause);
  EXPECT_EQ(oom.limit_planes(key(20), 16), 2);
  EXPECT_EQ(oom.limit_planes(key(20), 1), 1);
}

TEST(OomTracker, clears_all_limits_when_full) {
  int warnings = 0;
  OomTracker oom([&](const std::string&) { ++warnings; });
  for (int rank = 1; rank <= int(kMaxCacheEntries); ++rank)
    oom.record_batch_oom(key(rank), 8, kCause);
  EXPECT_EQ(oom.limit_planes(key(1), 8), 4);

  oom.record_batch_oom(key(int(kMaxCacheEntries) + 1), 8, kCause);
  EXPECT_EQ(oom.limit_planes(key(1), 8), 8);
  EXPECT_EQ(oom.limit_planes(key(int(kMaxCacheEntries) + 1), 8), 4);
  EXPECT_EQ(warnings, int(kMaxCacheEntries) + 1);

  oom.record_batch_oom(key(1), 8, kCause);  // the limit is determined again
  EXPECT_EQ(oom.limit_planes(key(1), 8), 4);
}

TEST(OomTracker, names_the_kind_of_memory) {
  std::vector<std::string> warnings;
  OomTracker oom([&](const std::string& warning) { warnings.push_back(warning); });
  const OutOfMemory pinned("cudaHostAlloc failed", MemoryKind::pinned_host);
  oom.record_batch_oom(key(20), 8, pinned);
  oom.record_image_oom(key(20), pinned);
  oom.record_lane_oom(pinned);
  ASSERT_EQ(warnings.size(), 3U);
  for (const std::string& warning : warnings)
    EXPECT_EQ(warning.find("not enough pinned host memory for a "), 0U) << warning;
  EXPECT_EQ(oom.warnings().at(0).find("not enough pinned host memory: batches of"), 0U);

  oom.record_image_oom(key(5), kCause);
  EXPECT_EQ(warnings.back().find("not enough GPU memory for a batch of one image"), 0U);
  EXPECT_EQ(oom.warnings().at(0).find("not enough GPU memory and pinned host memory: batches of"),
            0U);
}

}  // namespace
}  // namespace eckart::compute
