#include "pipeline/available_ranks.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "core/color_mode.hpp"
#include "core/rank_spec.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/failure_of.hpp"

namespace eckart::test {
namespace {

constexpr ImageShape kShape{200, 300, 3, Depth::u8};

/// An input of factors with some triplets of each matrix.
class AvailableRanksTest : public testing::Test {
 protected:
  explicit AvailableRanksTest(ColorMode color = ColorMode::channels) { item_.color = color; }

  void prepare(const std::string& ranks, std::vector<int> triplets) {
    ranks_ = parse_ranks(ranks);
    item_.image_shape = kShape;
    item_.matrices_shape = matrices_shape(kShape, item_.color);
    item_.samples.emplace();
    item_.outputs.resize(ranks_.size());
    item_.task.input = Image(item_.matrices_shape);
    const double scale = matrices_scale(kShape, item_.color);
    for (const int count : triplets) {
      item_.task.known_factors.push_back(make_factors(kShape.rows, kShape.cols, count));
      item_.task.known_factors.back().scale_levels(scale);
    }
    pipeline::prepare_task(item_, ranks_, chroma_rank_);
  }
  void leave_out() { pipeline::leave_out_unavailable_ranks(item_, chroma_rank_); }

  std::vector<RankPolicy> ranks_;
  std::optional<RankPolicy> chroma_rank_;
  pipeline::WorkItem item_;
};

TEST_F(AvailableRanksTest, leaves_out_those_that_the_factors_do_not_suffice_for) {
  prepare("2,9,5", {5, 5, 5});
  leave_out();
  EXPECT_EQ(item_.task.ranks, (std::vector<RankPolicy>{{2}, {5}}));
  EXPECT_EQ(item_.unavailable_outputs, std::vector<std::size_t>{1});
  EXPECT_EQ(item_.unavailable_reason,
            "rank 9 needs more singular values than the file has: 5 of 200");
  EXPECT_FALSE(item_.skips_backend);
  pipeline::allocate_outputs(item_.task);
  pipeline::complete_outputs(item_);
  ASSERT_EQ(item_.task.outputs.size(), 3U);
  EXPECT_TRUE(item_.task.outputs[1].empty());
  EXPECT_FALSE(item_.task.outputs[2].empty());
}

TEST_F(AvailableRanksTest, fails_if_none_is_left) {
  prepare("9,10", {5, 5, 5});
  const CaughtError failure = failure_of([&] { leave_out(); });
  EXPECT_EQ(failure.reason, FailureReason::unsupported);
  EXPECT_EQ(failure.detail, "rank 9,10 needs more singular values than the file has: 5 of 200");
}

/// As in the run that made it.
TEST_F(AvailableRanksTest, does_not_fail_if_an_output_is_kept) {
  item_.skipped_reports = {"{}", std::nullopt};
  prepare("2,9", {5, 5, 5});
  leave_out();
  EXPECT_TRUE(item_.skips_backend);
  EXPECT_EQ(item_.unavailable_outputs, std::vector<std::size_t>{1});
  EXPECT_EQ(item_.unavailable_reason,
            "rank 9 needs more singular values than the file has: 5 of 200");
  EXPECT_EQ(item_.task.outputs.size(), 2U);
}

/// Those of the ranks that are left would look like those of all.
TEST_F(AvailableRanksTest, leaves_out_the_factors_too) {
  item_.has_factors = true;
  prepare("9,2", {5, 5, 5});
  item_.outputs.resize(3);
  item_.task.min_factor_rank = 0;
  leave_out();
  EXPECT_EQ(item_.unavailable_outputs, (std::vector<std::size_t>{0, 2}));
  EXPECT_FALSE(item_.task.min_factor_rank);
}

TEST_F(AvailableRanksTest, fails_if_only_factors_are_written) {
  prepare("9,2", {5, 5, 5});
  item_.has_factors = true;
  item_.outputs.resize(1);
  EXPECT_EQ(failure_of([&] { leave_out(); }).reason, FailureReason::unsupported);
}

class AvailableChromaRanksTest : public AvailableRanksTest {
 protected:
  AvailableChromaRanksTest() : AvailableRanksTest(ColorMode::ycbcr) {}
};

/// The matrices of a task have 256 times the levels of the image.
TEST_F(AvailableChromaRanksTest, describes_the_ranks_of_the_settings) {
  prepare("3,50%,rmse:0.001,bytes:90%", {5, 4, 4});
  leave_out();
  EXPECT_EQ(item_.unavailable_reason,
            "rank 50%,rmse:0.001,bytes:90% needs more singular values than the file has: 5, 4, 4 "
            "of 200");
}

TEST_F(AvailableChromaRanksTest, describes_the_chroma_rank) {
  chroma_rank_ = RankPolicy(RankPolicy::Kind::percent, 20);
  prepare("3,9", {5, 4, 4});
  EXPECT_EQ(failure_of([&] { leave_out(); }).detail,
            "rank 9 and chroma_rank 20% need more singular values than the file has: 5, 4, 4 of "
            "200");
}

}  // namespace
}  // namespace eckart::test
