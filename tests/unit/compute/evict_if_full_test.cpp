#include "compute/evict_if_full.hpp"

#include <gtest/gtest.h>

namespace eckart::compute {
namespace {

std::map<int, int> filled_map(std::size_t count) {
  std::map<int, int> map;
  for (std::size_t i = 0; i < count; ++i) map[int(i)] = 0;
  return map;
}

TEST(Eviction, does_nothing_below_the_limit) {
  auto map = filled_map(kMaxCacheEntries - 1);
  evict_if_full(map);
  EXPECT_EQ(map.size(), kMaxCacheEntries - 1);
}

TEST(Eviction, clears_a_full_map) {
  auto map = filled_map(kMaxCacheEntries);
  evict_if_full(map);
  EXPECT_TRUE(map.empty());
}

TEST(Eviction, keeps_entries_in_use_at_their_addresses) {
  auto map = filled_map(kMaxCacheEntries);
  const int* const seven = &map[7];
  evict_if_full(map, [](int key) { return key == 7; });
  ASSERT_EQ(map.size(), 1U);
  EXPECT_EQ(&map.at(7), seven);
}

}  // namespace
}  // namespace eckart::compute
