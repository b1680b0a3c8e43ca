#include "core/outcome.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/error.hpp"

namespace eckart {
namespace {

TEST(Outcome, EveryReasonHasANameOfItsOwn) {
  std::set<std::string_view> names;
  for (int reason = 0; reason < kReasonCount; ++reason) names.insert(to_string(Reason(reason)));
  EXPECT_EQ(int(names.size()), kReasonCount);
  EXPECT_FALSE(names.contains("?"));
}

TEST(Outcome, OnlyDoneIsOk) {
  EXPECT_TRUE(Outcome{}.ok());
  EXPECT_FALSE((Outcome{.result = Result::skipped, .detail = "done before"}.ok()));
  const Outcome failed = Outcome::failed(Stage::load, Reason::corrupt, "ends in the middle");
  EXPECT_FALSE(failed.ok());
  EXPECT_EQ(failed.stage, Stage::load);
  EXPECT_EQ(failed.reason, Reason::corrupt);
  EXPECT_EQ(failed.detail, "ends in the middle");
}

TEST(Error, CarriesWhoseItIsAndWhy) {
  const ItemError item(Reason::too_large, "70000 x 3");
  EXPECT_EQ(item.reason(), Reason::too_large);
  EXPECT_STREQ(item.what(), "70000 x 3");
  const FatalError fatal(ExitCode::temporary, "the GPU is gone");
  EXPECT_EQ(fatal.code(), ExitCode::temporary);
  EXPECT_EQ(int(fatal.code()), 75);
}

}  // namespace
}  // namespace eckart
