#include "compute/fallback/shortage.hpp"

#include <gtest/gtest.h>

#include "compute/make_room.hpp"

namespace eckart {
namespace {

BatchKind kind(int rank) { return {{64, 32}, {{rank}}}; }

TEST(Shortage, knows_kinds_of_batches_of_one_shape_apart) {
  Shortage shortage([](const std::string&) {});
  shortage.batch_did_not_fit(kind(20), 8, "no room");
  EXPECT_EQ(shortage.at_most(kind(20), 8), 4);
  EXPECT_EQ(shortage.at_most(kind(5), 8), 8);
}

TEST(Shortage, never_lets_a_kind_grow_again) {
  Shortage shortage([](const std::string&) {});
  shortage.batch_did_not_fit(kind(20), 8, "no room");
  shortage.batch_did_not_fit(kind(20), 16, "no room");  // of another lane, and begun before
  EXPECT_EQ(shortage.at_most(kind(20), 16), 4);
  shortage.batch_did_not_fit(kind(20), 4, "no room");
  EXPECT_EQ(shortage.at_most(kind(20), 16), 2);
  EXPECT_EQ(shortage.at_most(kind(20), 1), 1);
}

TEST(Shortage, forgets_them_all_when_it_knows_too_many) {
  int warnings = 0;
  Shortage shortage([&](const std::string&) { ++warnings; });
  for (int rank = 1; rank <= int(kMostKnown); ++rank)
    shortage.batch_did_not_fit(kind(rank), 8, "no room");
  EXPECT_EQ(shortage.at_most(kind(1), 8), 4);

  shortage.batch_did_not_fit(kind(int(kMostKnown) + 1), 8, "no room");
  EXPECT_EQ(shortage.at_most(kind(1), 8), 8);
  EXPECT_EQ(shortage.at_most(kind(int(kMostKnown) + 1), 8), 4);
  EXPECT_EQ(warnings, int(kMostKnown) + 1);

  shortage.batch_did_not_fit(kind(1), 8, "no room");  // and finds it out again
  EXPECT_EQ(shortage.at_most(kind(1), 8), 4);
}

}  // namespace
}  // namespace eckart
