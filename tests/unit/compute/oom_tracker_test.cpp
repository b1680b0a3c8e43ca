#include "compute/fallback/oom_tracker.hpp"

#include <gtest/gtest.h>

#include "compute/evict_if_full.hpp"

namespace eckart::compute {
namespace {

BatchKey key(int rank) { return {{64, 32}, {{rank}}}; }

TEST(OomTracker, limits_each_batch_key_separately) {
  OomTracker oom([](const std::string&) {});
  oom.record_batch_oom(key(20), 8, "cudaMalloc failed");
  EXPECT_EQ(oom.limit_planes(key(20), 8), 4);
  EXPECT_EQ(oom.limit_planes(key(5), 8), 8);
}

TEST(OomTracker, does_not_raise_a_limit) {
  OomTracker oom([](const std::string&) {});
  oom.record_batch_oom(key(20), 8, "cudaMalloc failed");
  oom.record_batch_oom(key(20), 16, "cudaMalloc failed");  // from another lane, started earlier
  EXPECT_EQ(oom.limit_planes(key(20), 16), 4);
  oom.record_batch_oom(key(20), 4, "cudaMalloc failed");
  EXPECT_EQ(oom.limit_planes(key(20), 16), 2);
  EXPECT_EQ(oom.limit_planes(key(20), 1), 1);
}

TEST(OomTracker, clears_all_limits_when_full) {
  int warnings = 0;
  OomTracker oom([&](const std::string&) { ++warnings; });
  for (int rank = 1; rank <= int(kMaxCacheEntries); ++rank)
    oom.record_batch_oom(key(rank), 8, "cudaMalloc failed");
  EXPECT_EQ(oom.limit_planes(key(1), 8), 4);

  oom.record_batch_oom(key(int(kMaxCacheEntries) + 1), 8, "cudaMalloc failed");
  EXPECT_EQ(oom.limit_planes(key(1), 8), 8);
  EXPECT_EQ(oom.limit_planes(key(int(kMaxCacheEntries) + 1), 8), 4);
  EXPECT_EQ(warnings, int(kMaxCacheEntries) + 1);

  oom.record_batch_oom(key(1), 8, "cudaMalloc failed");  // the limit is determined again
  EXPECT_EQ(oom.limit_planes(key(1), 8), 4);
}

}  // namespace
}  // namespace eckart::compute
