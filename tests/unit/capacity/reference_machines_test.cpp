#include "capacity/reference_machines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "capacity/plan.hpp"
#include "capacity/plan_answer.hpp"

namespace eckart::capacity::test {
namespace {

using ::testing::HasSubstr;

TEST(ReferenceMachine, has_the_figures_of_its_source) {
  std::ifstream file(std::string(ECKART_SOURCE_DIR "/") + reference_source());
  const auto results = nlohmann::json::parse(file);
  EXPECT_THAT(std::string(results["device"]), HasSubstr("NVIDIA H200"));
  std::size_t index = 0;
  for (const ReferenceWork& work : reference_works("h200")) {
    const auto& series = results["series"].at(index++);
    EXPECT_EQ(series["work"], work.work);
    ASSERT_EQ(series["measured"].size(), work.rates.size());
    for (std::size_t i = 0; i < work.rates.size(); ++i) {
      const auto& measured = series["measured"][i];
      EXPECT_EQ(measured["cores"], work.rates[i].first);
      std::vector<double> rates;
      for (const auto& run : measured["runs"]) {
        if (run["intervals"] >= 2) rates.push_back(run["images_per_s"]);
      }
      EXPECT_EQ(work.rates[i].second, rates) << work.work;
    }
  }
  EXPECT_EQ(index, results["series"].size());
}

TEST(ReferenceMachine, predicts_the_recorded_rates_and_marks_every_table) {
  const std::vector<Plan> plans = make_plans(reference_runs("h200"), {.target_per_s = 5000});
  ASSERT_EQ(plans.size(), 2U);
  for (const Plan& plan : plans) {
    const std::string text = to_text(plan);
    for (const char* marked :
         {"Not measured", "Options, not measured here", "Rates, not measured here",
          "2026-11-23-scaling-h200.json, not measured here"})
      EXPECT_THAT(text, HasSubstr(marked));
    EXPECT_THAT(to_json(plan),
                HasSubstr("\"recorded_source\":\"docs/results/2026-11-23-scaling-h200.json\""));
  }
  EXPECT_THAT(answer(plans.at(0)).text,
              HasSubstr("a recorded machine with 16 cores and 1 GPU did 19,273"));
  EXPECT_EQ(answer(plans.at(0)).kind, Answer::Kind::yes);
  EXPECT_EQ(answer(plans.at(1)).kind, Answer::Kind::no);
}

TEST(ReferenceMachine, names_the_accepted_machines) {
  EXPECT_THROW(reference_runs("b300"), std::invalid_argument);
}

}  // namespace
}  // namespace eckart::capacity::test
