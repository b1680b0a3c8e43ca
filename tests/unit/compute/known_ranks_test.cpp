#include "compute/known_ranks.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <vector>

namespace eckart::compute {
namespace {

using testing::ElementsAre;
using testing::Optional;
using KnownKind = RankPolicy::Kind;

/// Factors of a 6 x 5 matrix with these singular values and this squared norm.
Factors factors_of(std::vector<double> s, double squared_norm) {
  return {.rows = 6, .cols = 5, .s = std::move(s), .squared_norm = squared_norm};
}

Task task_with(std::vector<Factors> factors, std::vector<RankPolicy> ranks) {
  Task task;
  task.input = Image({6, 5, int(factors.size()), Depth::f32});
  task.ranks = std::move(ranks);
  task.known_factors = std::move(factors);
  return task;
}

std::optional<std::vector<int>> known_ranks(const Task& task, std::size_t group = 0) {
  return choose_known_ranks(task, 0, channel_groups(task)[group]);
}

TEST(KnownRank, is_a_given_rank_up_to_the_known_triplets) {
  const std::vector<Factors> one{factors_of({4, 2, 1}, 22)};
  EXPECT_THAT(known_ranks(task_with(one, {{2}})), Optional(ElementsAre(2)));
  EXPECT_THAT(known_ranks(task_with(one, {{3}})), Optional(ElementsAre(3)));
  EXPECT_EQ(known_ranks(task_with(one, {{4}})), std::nullopt);
  EXPECT_THAT(known_ranks(task_with({factors_of({5, 4, 3, 2, 1}, 55)}, {{9}})),
              Optional(ElementsAre(5)))
      << "full rank";
}

TEST(KnownRank, is_that_of_all_triplets_if_full_rank_is_wanted) {
  const Task task = task_with({factors_of({4, 2, 1}, 22), factors_of({4}, 22), factors_of({}, 0)},
                              {RankPolicy(KnownKind::full, 0)});
  EXPECT_THAT(known_ranks(task), Optional(ElementsAre(3, 1, 0)));
}

TEST(KnownRank, is_the_smallest_with_a_small_enough_error) {
  // The squared error of the ranks 1 to 3 of the norm 100: 51, 26 and 17.
  const std::vector<Factors> one{factors_of({7, 5, 3}, 100)};
  const auto rank_of = [&](double energy) {
    return known_ranks(task_with(one, {RankPolicy(KnownKind::energy, energy)}));
  };
  EXPECT_THAT(rank_of(0.48), Optional(ElementsAre(1)));
  EXPECT_THAT(rank_of(0.5), Optional(ElementsAre(2)));
  EXPECT_THAT(rank_of(0.75), Optional(ElementsAre(3)));
  EXPECT_THAT(rank_of(0.83016), Optional(ElementsAre(3))) << "within the rounding of the file";
  EXPECT_EQ(rank_of(0.8303), std::nullopt);
  // The mean squared error of rank 3 is 17 / 30.
  const auto rmse_rank = [&](double squared) {
    return known_ranks(task_with(one, {RankPolicy(KnownKind::rmse, std::sqrt(squared))}));
  };
  EXPECT_THAT(rmse_rank(26.001 / 30), Optional(ElementsAre(2)));
  EXPECT_THAT(rmse_rank(17 / 30.0), Optional(ElementsAre(3)));
  EXPECT_EQ(rmse_rank(16.9 / 30), std::nullopt);
  const Task complete =
      task_with({factors_of({5, 4, 3, 2, 1}, 56)}, {RankPolicy(KnownKind::energy, 1)});
  EXPECT_THAT(known_ranks(complete), Optional(ElementsAre(5))) << "there is nothing more";
}

TEST(KnownRank, is_chosen_from_the_triplets_of_all_channels_of_a_group) {
  const Factors strong = factors_of({10, 9, 8}, 245), weak = factors_of({3, 2}, 13);
  Task task = task_with({strong, weak, weak}, {RankPolicy(KnownKind::energy, 0.9)});
  EXPECT_THAT(known_ranks(task), Optional(ElementsAre(3, 1, 1)));
  task.chroma_rank = RankPolicy(2);
  EXPECT_THAT(known_ranks(task, 0), Optional(ElementsAre(3)));
  EXPECT_THAT(known_ranks(task, 1), Optional(ElementsAre(2, 2)));
  task.chroma_rank = RankPolicy(3);
  EXPECT_EQ(known_ranks(task, 1), std::nullopt);
}

TEST(KnownRank, needs_all_values_for_the_noise) {
  const Factors part = factors_of({9, 1, 1}, 83.2), all = factors_of({9, 1, 1, 0.9, 0.9}, 84.62);
  for (const KnownKind kind : {KnownKind::gavish_donoho, KnownKind::marchenko_pastur}) {
    EXPECT_EQ(known_ranks(task_with({part}, {RankPolicy(kind, 0)})), std::nullopt);
    EXPECT_THAT(known_ranks(task_with({all}, {RankPolicy(kind, 0)})), Optional(ElementsAre(1)));
  }
}

TEST(KnownFactor, suffices_if_it_does_for_every_output_and_all_that_is_wanted) {
  Task task = task_with(
      {factors_of({4, 2, 1}, 22), factors_of({4, 2, 1}, 22), factors_of({4, 2}, 22)}, {{1}, {2}});
  EXPECT_TRUE(do_known_factors_suffice(task));
  task.ranks = {{1}, {3}};
  EXPECT_FALSE(do_known_factors_suffice(task)) << "the last channel has two";
  task.ranks = {{1}, {2}};
  task.chroma_rank = RankPolicy(3);
  EXPECT_FALSE(do_known_factors_suffice(task));
  task.chroma_rank.reset();
  task.min_factor_rank = 2;
  EXPECT_TRUE(do_known_factors_suffice(task));
  task.min_factor_rank = 3;
  EXPECT_FALSE(do_known_factors_suffice(task));
  task.min_factor_rank = 0;
  EXPECT_TRUE(do_known_factors_suffice(task));
  task.wants_spectrum = true;
  EXPECT_FALSE(do_known_factors_suffice(task));
}

TEST(MissingTriplet, is_described_with_the_ranks_of_the_file) {
  const Factors two = factors_of({4, 2}, 22), three = factors_of({4, 2, 1}, 22);
  EXPECT_EQ(describe_missing_triplets(std::vector{two}),
            "more singular values than the file has: 2 of 5");
  EXPECT_EQ(describe_missing_triplets(std::vector{two, two, two}),
            "more singular values than the file has: 2 of 5");
  EXPECT_EQ(describe_missing_triplets(std::vector{three, two, two}),
            "more singular values than the file has: 3, 2, 2 of 5");
}

}  // namespace
}  // namespace eckart::compute
