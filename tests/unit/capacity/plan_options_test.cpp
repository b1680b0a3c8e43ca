#include "capacity/plan_options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "capacity/plan_sentences.hpp"
#include "capacity/reference_machines.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

using Meets = PlanOption::Meets;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

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

TEST(PlanOption, has_the_cores_that_were_asked_for) {
  const PlanRequest request{.cores = {2, 4, 16}, .prices = Prices{.core_h = 0.05}};
  const Plan plan = single_plan(scaling_runs(), request);
  EXPECT_NEAR(option(plan, "16 cores").cost_per_month.value_or(0), 16 * 0.05 * kHoursPerMonth,
              1e-9);
  EXPECT_TRUE(option(plan, "2 cores").cost_per_month);
  EXPECT_EQ(std::ranges::count(plan.options, "4 cores", &PlanOption::name), 0)
      << "this machine has these";
  const Plan idle = single_plan({synthetic_run({}, {.cores = 4, .arrival_per_s = 1000})},
                                {.target_per_s = 3000, .cores = {16}});
  EXPECT_TRUE(option(idle, "16 cores").is_upper_bound);
  EXPECT_NEAR(option(idle, "16 cores").rate_per_s.value, 32'000, 100) << "as in the rates";
  EXPECT_EQ(option(idle, "16 cores").meets_target, Meets::unknown);
  const Plan enough = single_plan({synthetic_run({}, {.cores = 4, .arrival_per_s = 1000})},
                                  {.target_per_s = 500, .cores = {16}});
  EXPECT_EQ(option(enough, "16 cores").meets_target, Meets::yes) << "as 4 cores";
}

TEST(PlanOption, has_bounds_that_fit_the_rates_if_the_limit_is_not_known) {
  // 4 cores kept 12.5 % busy: one could do twice as much, but another limit may be in the way.
  const PlanRequest one_core{.target_per_s = 900, .cores = {1}};
  const Plan idle = single_plan({synthetic_run({}, {.cores = 4, .arrival_per_s = 1000})}, one_core);
  EXPECT_NEAR(option(idle, "1 core").rate_per_s.value, 1000, 50) << "what 4 cores did";
  EXPECT_TRUE(option(idle, "1 core").is_lower_bound);
  EXPECT_EQ(option(idle, "1 core").meets_target, Meets::yes);
  EXPECT_TRUE(idle.predictions.front().is_upper_bound);
  // 62.5 % busy: one core could do less than 4 did, so only it limits the rate.
  const Plan busy = single_plan({synthetic_run({}, {.cores = 4, .arrival_per_s = 5000})}, one_core);
  EXPECT_NEAR(option(busy, "1 core").rate_per_s.value, 2000, 100);
  EXPECT_FALSE(option(busy, "1 core").is_lower_bound);
  EXPECT_FALSE(busy.predictions.front().is_upper_bound);
}

TEST(PlanOption, is_never_enough_by_an_upper_bound) {
  const Plan plan = single_plan({synthetic_run({}, {.cores = 4})}, {.target_per_s = 20'000});
  for (const PlanOption& each : plan.options) {
    EXPECT_FALSE(each.is_upper_bound && each.meets_target == Meets::yes);
  }
}

TEST(PlanOption, is_a_recorded_machine_for_images_of_about_the_same_size) {
  const std::vector<Plan> recorded = make_plans(reference_runs("h200"), {});
  Plan plan = single_plan(scaling_runs(), {.target_per_s = 10'000});
  add_recorded_options(plan, recorded);
  EXPECT_FALSE(option(plan, "16 cores and 1 H200").is_measured_here);
  EXPECT_EQ(option(plan, "16 cores and 1 H200").meets_target, Meets::yes);
  EXPECT_THAT(to_text(plan), HasSubstr("recorded: 16 cores and 1 H200"));
  EXPECT_THAT(caveats(plan), Contains("Recorded for other work, not measured here: 16 cores and 1 "
                                      "H200 (MRI slices, 256 x 256 JPEG, k = 20)."));
  Plan large = single_plan(scaling_runs(), {});
  large.pixels_per_image *= 100;
  const std::size_t options = large.options.size();
  add_recorded_options(large, recorded);
  EXPECT_EQ(large.options.size(), options);
  EXPECT_THAT(caveats(large), Contains(HasSubstr("no figures for images of about this size")));
}

TEST(PlanOption, has_no_cost_without_the_price_of_what_it_mainly_uses) {
  const std::vector<Plan> recorded = make_plans(reference_runs("h200"), {});
  const auto priced = [&](const Prices& prices) {
    Plan plan = single_plan(scaling_runs(), {.target_per_s = 1000, .prices = prices});
    add_recorded_options(plan, recorded);
    return plan;
  };
  const Plan cores = priced({.core_h = 0.05});
  EXPECT_TRUE(option(cores, "this machine").cost_per_month);
  EXPECT_FALSE(option(cores, "16 cores and 1 H200").cost_per_month);
  EXPECT_THAT(caveats(cores), Contains("An option has no cost because --price has no gpu=PRICE."));
  const Plan gpus = priced({.gpu_h = 3.5});
  EXPECT_FALSE(option(gpus, "this machine").cost_per_month);
  EXPECT_NEAR(option(gpus, "16 cores and 1 H200").cost_per_month.value_or(0), 3.5 * kHoursPerMonth,
              1e-9);
  EXPECT_THAT(manager_paragraph(gpus),
              HasSubstr("is 16 cores and 1 H200 (recorded, not measured here): 2,557 a month"));
  const Plan energy = priced({.kwh = 0.3});
  for (const PlanOption& each : energy.options) EXPECT_TRUE(each.cost_per_month) << each.name;
}

TEST(PlanOption, is_not_the_cheapest_that_is_enough_if_that_is_unknown) {
  Plan plan = single_plan(scaling_runs(),
                          PlanRequest{.target_per_s = 1000, .prices = Prices{.core_h = 0.05}});
  PlanOption& guess = plan.options.emplace_back(plan.options.front());
  guess.name = "a guess";
  guess.meets_target = Meets::unknown;
  guess.cost_per_million_images = 0;
  EXPECT_THAT(manager_paragraph(plan),
              AllOf(HasSubstr("The cheapest option that is enough is"), Not(HasSubstr("a guess"))));
}

TEST(PlanOption, says_which_power_is_assumed) {
  const std::vector<Plan> recorded = make_plans(reference_runs("h200"), {});
  PlanRequest request{.target_per_s = 1000, .prices = Prices{.kwh = 0.3}};
  Plan plan = single_plan(scaling_runs(), request);
  EXPECT_THAT(caveats(plan), Contains("Power is assumed, not measured: 10 W a core. Use --watts."));
  request.watts = 100;
  plan = single_plan(scaling_runs(), request);
  EXPECT_THAT(caveats(plan), Not(Contains(HasSubstr("Power is assumed"))));
  add_recorded_options(plan, recorded);
  EXPECT_THAT(caveats(plan), Contains("Power is assumed, not measured: 700 W a GPU."));
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
  EXPECT_THAT(to_text(single_plan(runs, request)),
              HasSubstr("20.0 kB an image, 1.00 TB a month at the target"));
}

TEST(Plan, has_the_output_and_cost_of_a_number_of_images) {
  std::vector<LoggedRun> runs = scaling_runs();
  for (LoggedRun& run : runs) {
    for (ThroughputSample& interval : run.intervals) interval.output_bytes = 20'000 * interval.done;
  }
  PlanRequest request{.images = 500e3, .images_phrase = "500k images"};
  EXPECT_THAT(to_text(single_plan(runs, request)), HasSubstr("20.0 kB an image, 10.0 GB in all"));
  request.prices = Prices{.core_h = 0.05};
  set_target(request, parse_count("500k"), parse_deadline("10h", 0));
  EXPECT_THAT(manager_paragraph(single_plan(runs, request)),
              AllOf(HasSubstr("is 1 core: 0.500 for all images, 1.00 per million images."),
                    HasSubstr("The output is 10.0 GB.")))
      << "10 hours of 0.05";
}

}  // namespace
}  // namespace eckart::capacity::test
