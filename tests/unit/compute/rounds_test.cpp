#include "compute/rounds.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "core/quality.hpp"

namespace eckart {
namespace {

/// After a batch of a hundred planes with the rounds that came next.
int after(Rounds& rounds, int unsettled, double worst_db) {
  rounds.learn(rounds.next(), 100, unsettled, worst_db);
  return rounds.next();
}

TEST(Rounds, rise_where_many_planes_want_more) {
  Rounds rounds;
  EXPECT_EQ(after(rounds, 1, 0.005), Rounds::kFirst) << "one is done again";
  EXPECT_EQ(after(rounds, 2, 0.005), Rounds::kFirst + 1);
  rounds.learn(rounds.next(), 4, 1, 0.005);
  EXPECT_EQ(rounds.next(), Rounds::kFirst + 2) << "one of four is many";
  for (int i = 0; i < 20; ++i) after(rounds, 100, 0);
  EXPECT_EQ(rounds.next(), Rounds::kMost);
}

TEST(Rounds, fall_where_all_planes_are_far_better_than_the_bar) {
  Rounds rounds;
  EXPECT_EQ(after(rounds, 0, 1e-3), Rounds::kFirst);
  EXPECT_EQ(after(rounds, 1, 1e-6), Rounds::kFirst) << "not while another wants more";
  EXPECT_EQ(after(rounds, 0, 1e-6), Rounds::kFirst - 1);
  for (int i = 0; i < 20; ++i) after(rounds, 0, 0);
  EXPECT_EQ(rounds.next(), Rounds::kFewest);
}

/// Each round less loses six times as much: 0.0005 dB with four, 0.003 with three.
TEST(Rounds, fall_to_the_fewest_that_keep_within_the_bar) {
  Rounds rounds;
  const auto loss_db = [&] { return 0.0005 * std::pow(6.0, 4 - rounds.next()); };
  for (int i = 0; i < 20; ++i) {
    after(rounds, 0, loss_db());
    ASSERT_LT(loss_db(), kMostLossDb);
  }
  EXPECT_EQ(rounds.next(), 3) << "where a guess of 50 times as much would have stayed at four";
}

TEST(Rounds, do_not_fall_again_at_once_where_one_less_was_too_few) {
  Rounds rounds;
  ASSERT_EQ(after(rounds, 0, 1e-5), 5);
  ASSERT_EQ(after(rounds, 0, 1e-4), 4);
  ASSERT_EQ(after(rounds, 50, 0.009), 5);
  EXPECT_EQ(after(rounds, 0, 1e-3), 5);
  EXPECT_EQ(after(rounds, 0, 1e-5), 4) << "unless it is far better";
}

TEST(Rounds, answer_batches_that_were_on_their_way_once) {
  Rounds rounds;
  const int given = rounds.next();
  rounds.learn(given, 100, 0, 1e-9);
  rounds.learn(given, 100, 0, 1e-9);
  EXPECT_EQ(rounds.next(), given - 1);
}

}  // namespace
}  // namespace eckart
