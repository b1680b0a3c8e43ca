#include "compute/make_room.hpp"

#include <gtest/gtest.h>

namespace eckart {
namespace {

std::map<int, int> known(std::size_t count) {
  std::map<int, int> map;
  for (std::size_t i = 0; i < count; ++i) map[int(i)] = 0;
  return map;
}

TEST(MakeRoom, leaves_what_has_room_alone) {
  auto map = known(kMostKnown - 1);
  make_room(map);
  EXPECT_EQ(map.size(), kMostKnown - 1);
}

TEST(MakeRoom, drops_all_of_a_full_map) {
  auto map = known(kMostKnown);
  make_room(map);
  EXPECT_TRUE(map.empty());
}

TEST(MakeRoom, keeps_what_is_in_use_where_it_is) {
  auto map = known(kMostKnown);
  const int* const seven = &map[7];
  make_room(map, [](int key) { return key == 7; });
  ASSERT_EQ(map.size(), 1U);
  EXPECT_EQ(&map.at(7), seven);
}

}  // namespace
}  // namespace eckart
