#include "core/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"

namespace eckart {
namespace {

TEST(Outcome, has_a_unique_name_for_each_failure_reason) {
  std::set<std::string_view> names;
  for (int reason = 0; reason < kFailureReasonCount; ++reason)
    names.insert(to_string(FailureReason(reason)));
  EXPECT_EQ(int(names.size()), kFailureReasonCount);
  EXPECT_FALSE(names.contains("?"));
}

TEST(StageName, is_parsed_as_it_is_written) {
  for (int stage = 0; stage < kStageCount; ++stage)
    EXPECT_EQ(parse_stage(to_string(Stage(stage))), Stage(stage));
  EXPECT_EQ(parse_stage("publish"), std::nullopt);
}

TEST(Outcome, is_ok_only_if_done) {
  EXPECT_TRUE(Outcome{}.ok());
  EXPECT_FALSE((Outcome{.result = ItemResult::skipped, .detail = "done before"}.ok()));
  const Outcome failed = Outcome::failed(Stage::load, FailureReason::corrupt, "ends in the middle");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.stage, Stage::load);
  EXPECT_EQ(failed.reason, FailureReason::corrupt);
  EXPECT_EQ(failed.detail, "ends in the middle");
}

TEST(Outcome, is_retried_if_no_file_is_to_blame_or_it_may_be_incomplete) {
  const Outcome incomplete = Outcome::incomplete(Stage::load, FailureReason::corrupt, "ends early");
  EXPECT_EQ(incomplete.result, ItemResult::incomplete);
  EXPECT_EQ(incomplete.stage, Stage::load);
  EXPECT_EQ(incomplete.reason, FailureReason::corrupt);
  EXPECT_EQ(incomplete.detail, "ends early");
  EXPECT_TRUE(incomplete.will_be_retried());
  const Outcome deferred = Outcome::deferred(Stage::write, "no space");
  EXPECT_EQ(deferred.result, ItemResult::deferred);
  EXPECT_EQ(deferred.stage, Stage::write);
  EXPECT_EQ(deferred.reason, FailureReason::none);
  EXPECT_EQ(deferred.detail, "no space");
  EXPECT_TRUE(deferred.will_be_retried());
  EXPECT_FALSE(Outcome{}.will_be_retried());
  EXPECT_FALSE(Outcome::failed(Stage::load, FailureReason::corrupt, "").will_be_retried());
  EXPECT_FALSE((Outcome{.result = ItemResult::skipped, .detail = "done before"}.will_be_retried()));
}

TEST(Exception, carries_code_and_message) {
  const ItemError item(FailureReason::too_large, "70000 x 3");
  EXPECT_EQ(item.reason(), FailureReason::too_large);
  EXPECT_STREQ(item.what(), "70000 x 3");
  const FatalError fatal(ExitCode::temporary, "the GPU is gone");
  EXPECT_EQ(fatal.code(), ExitCode::temporary);
  EXPECT_EQ(int(fatal.code()), 75);
}

}  // namespace
}  // namespace eckart
