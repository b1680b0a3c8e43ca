#include "capacity/plan_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "capacity/reference_machines.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using Meets = PlanOption::Meets;

const PlanOption& option(const Plan& plan, const std::string& name) {
  const auto found = std::ranges::find(plan.options, name, &PlanOption::name);
  if (found == plan.options.end()) throw std::runtime_error("there is no option " + name);
  return *found;
}

std::vector<LoggedRun> scaling_runs() {
  return {synthetic_run({.serial_fraction = 0.01}, {.id = "1", .cores = 1}),
          synthetic_run({.serial_fraction = 0.01}, {.id = "4", .cores = 4})};
}

constexpr double kHoursPerMonth = 24 * 365.25 / 12;

TEST(PlanOption, costs_what_the_hours_and_the_energy_of_a_month_cost) {
  const PlanRequest request{
      .target_per_s = 1000, .prices = Prices{.core_h = 0.05, .kwh = 0.2}, .watts = 100};
  const PlanOption here = option(single_plan(scaling_runs(), request), "this machine");
  EXPECT_DOUBLE_EQ(here.watts.value_or(0), 100);
  const double month = (4 * 0.05 + 0.1 * 0.2) * kHoursPerMonth;
  EXPECT_NEAR(here.cost_per_month.value_or(0), month, 1e-9);
  EXPECT_NEAR(here.cost_per_million_images.value_or(0),
              month / (1000 * 3600 * kHoursPerMonth / 1e6), 1e-9)
      << "of the target, not of what the machine could do";
}

TEST(PlanOption, costs_only_the_hours_of_the_shift) {
  PlanRequest request{.target_per_s = 1000, .prices = Prices{.core_h = 0.05}};
  const double all_day =
      *option(single_plan(scaling_runs(), request), "this machine").cost_per_month;
  request.shift_s = 6 * 3600;
  const double shift = *option(single_plan(scaling_runs(), request), "this machine").cost_per_month;
  EXPECT_NEAR(shift, all_day / 4, 1e-9);
}

TEST(PlanOption, uses_the_measured_power_of_a_gpu_and_a_default_for_cores) {
  const LoggedRun run = synthetic_run({.gpu_s_per_image = 2e-4}, {.cores = 4, .gpus = 1});
  const PlanRequest request{.prices = Prices{.kwh = 0.2}};
  const Plan plan = single_plan({run}, request);
  EXPECT_NEAR(plan.options.front().watts.value_or(0), 200 + 4 * kDefaultCoreWatts, 2);
}

TEST(PlanOption, is_offered_if_it_meets_the_target) {
  const Plan plan = single_plan(scaling_runs(), {.target_per_s = 20'000});
  EXPECT_EQ(option(plan, "this machine").meets_target, Meets::no);
  EXPECT_FALSE(plan.options.front().cost_per_month);
  int enough = 0;
  for (const PlanOption& each : plan.options) enough += each.meets_target == Meets::yes;
  EXPECT_EQ(enough, 2) << "more cores, and more machines";
  EXPECT_EQ(option(plan, "3 machines like this").meets_target, Meets::yes);
}

TEST(PlanOption, has_fewer_cores_if_these_are_enough) {
  const Plan plan = single_plan(scaling_runs(), {.target_per_s = 1000});
  EXPECT_EQ(option(plan, "1 core").meets_target, Meets::yes);
}

TEST(PlanOption, is_never_enough_by_an_upper_bound) {
  const Plan plan = single_plan({synthetic_run({}, {.cores = 4})}, {.target_per_s = 20'000});
  for (const PlanOption& each : plan.options) {
    EXPECT_FALSE(each.is_upper_bound && each.meets_target == Meets::yes);
  }
}

TEST(PlanOption, is_a_recorded_machine_for_images_of_about_the_same_size) {
  const Plan recorded = make_plans(reference_runs("h200"), {}).front();
  Plan plan = single_plan(scaling_runs(), {.target_per_s = 10'000});
  add_recorded_option(plan, recorded);
  EXPECT_FALSE(option(plan, "H200").is_measured_here);
  EXPECT_EQ(option(plan, "H200").meets_target, Meets::yes);
  EXPECT_THAT(to_text(plan), testing::HasSubstr("H200, not measured here"));
  Plan large = single_plan(scaling_runs(), {});
  large.pixels_per_image *= 100;
  add_recorded_option(large, recorded);
  EXPECT_EQ(std::ranges::count(large.options, "H200", &PlanOption::name), 0);
}

TEST(Plan, has_the_output_of_a_month) {
  std::vector<LoggedRun> runs = scaling_runs();
  EXPECT_FALSE(single_plan(runs).output_tb_per_month());
  for (LoggedRun& run : runs) {
    for (ThroughputSample& interval : run.intervals) interval.output_bytes = 20'000 * interval.done;
  }
  PlanRequest request;
  set_target(request, parse_rate("50M/month"));
  EXPECT_NEAR(single_plan(runs, request).output_tb_per_month().value_or(0), 1, 1e-6);
}

}  // namespace
}  // namespace eckart::capacity::test
