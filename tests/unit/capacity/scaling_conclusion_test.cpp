#include "capacity/scaling_conclusion.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

/// `factors`: the rates of runs on each number of cores, relative to each other.
Plan plan_of(const std::vector<int>& core_counts, const std::vector<double>& factors,
             double serial_fraction = 0.05) {
  std::vector<LoggedRun> runs;
  for (const int cores : core_counts) {
    for (const double factor : factors) {
      SyntheticMachine machine{.serial_fraction = serial_fraction};
      for (auto& [stage, seconds] : machine.cpu_s) seconds /= factor;
      runs.push_back(synthetic_run(machine, {.id = std::to_string(runs.size()), .cores = cores}));
    }
  }
  return single_plan(runs);
}

TEST(ScalingConclusion, needs_more_runs_until_each_rate_is_known_within_5_percent) {
  EXPECT_EQ(missing_precision(plan_of({1, 2}, {1})),
            "1 core: only one comparable run, 2 cores: only one comparable run");
  EXPECT_THAT(missing_precision(plan_of({2}, {1, 1.1, 0.9})), StartsWith("2 cores ± 25 %"));
  EXPECT_EQ(missing_precision(plan_of({1, 2}, {1, 1.01, 0.99})), "");
  const std::vector<RatePrecision> known = rate_precisions(plan_of({2}, {1, 1.01, 0.99}));
  ASSERT_EQ(known.size(), 1U);
  EXPECT_EQ(known[0].runs, 3U);
  EXPECT_NEAR(known[0].half_width, 4.303 * 0.01 / std::sqrt(3), 1e-3) << "Student's t";
}

TEST(ScalingConclusion, says_what_the_runs_show) {
  const auto lines = scaling_conclusions(plan_of({1, 2, 4, 8}, {1, 1.01, 0.99}));
  EXPECT_EQ(lines.at(0), "rates: known within 5.0 %");
  EXPECT_THAT(lines.at(1), StartsWith("serial fraction: 5.0 % (95 %: "));
  EXPECT_EQ(lines.at(2), "limit: its 8 cores");
}

TEST(ScalingConclusion, says_why_it_cannot_tell_and_what_to_do) {
  const auto lines = scaling_conclusions(plan_of({1, 2}, {1, 1.1, 0.9}, 0.01));
  EXPECT_THAT(lines.at(0), HasSubstr("1 core ± 25 %"));
  EXPECT_THAT(lines.at(0), HasSubstr("--max-seconds"));
  EXPECT_THAT(lines.at(1), HasSubstr("cannot be told from 0"));
  EXPECT_THAT(lines.at(1), HasSubstr("measure on more cores"));
  const Plan idle = single_plan({synthetic_run({}, {.cores = 4, .arrival_per_s = 1000})});
  EXPECT_THAT(scaling_conclusions(idle).at(2), StartsWith("limit: not known: nothing was fully"));
}

}  // namespace
}  // namespace eckart::capacity::test
