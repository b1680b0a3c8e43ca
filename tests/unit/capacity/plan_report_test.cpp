// The texts of whole plans, in the files of plans/: each figure, sentence and table of them.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "capacity/plan_options.hpp"
#include "capacity/plan_sentences.hpp"
#include "capacity/plan_tables.hpp"
#include "capacity/reference_machines.hpp"
#include "tests/unit/capacity/synthetic_log.hpp"

namespace eckart::capacity::test {
namespace {

LoggedRun with_outputs(LoggedRun run) {
  for (ThroughputSample& each : run.intervals) each.output_bytes = 20'000 * each.done;
  return run;
}

/// Runs of Amdahl's law, a target in shifts, prices, and a recorded machine.
std::vector<Plan> plans_of_scaling() {
  PlanRequest request{.shift_s = 8 * 3600,
                      .cores = {16},
                      .gpus = {2},
                      .prices = Prices{.core_h = 0.05, .gpu_h = 3.5, .kwh = 0.2},
                      .watts = 100};
  set_target(request, parse_rate("400M/day"));
  std::vector<LoggedRun> runs;
  for (const int cores : {1, 2, 4}) {
    runs.push_back(
        with_outputs(synthetic_run({.serial_fraction = 0.02, .noise = 0.02},
                                   {.id = std::to_string(cores), .cores = cores, .seed = 7})));
    runs.back().time = "2026-11-2" + std::to_string(cores) + "T10:00:00Z";
  }
  std::vector<Plan> plans = make_plans(runs, request);
  for (Plan& plan : plans) add_recorded_options(plan, make_plans(reference_runs("h200"), request));
  return plans;
}

/// A GPU is the limit, and images are counted.
std::vector<Plan> plans_of_a_gpu() {
  const SyntheticMachine machine{.cpu_s = {{Stage::load, 1e-4}, {Stage::write, 3e-4}},
                                 .gpu_s_per_image = 2e-4};
  return make_plans(
      {with_outputs(synthetic_run(machine, {.cores = 8, .gpus = 1}))},
      {.images = 5e6, .images_phrase = "5M images", .gpus = {2}, .prices = Prices{.gpu_h = 3.5}});
}

/// A service that is not busy, with an unsteady load, and a run of other work.
std::vector<Plan> plans_of_a_service() {
  LoggedRun run = synthetic_run({}, {.cores = 4, .command = "watch", .arrival_per_s = 2000});
  run.intervals[5].done *= 2;
  for (ThroughputSample& each : run.intervals) each.unfinished = 5;
  LoggedRun other = synthetic_run({}, {.id = "b", .cores = 2, .seconds = 1.4, .settings = {}});
  return make_plans({run, other}, {});
}

/// Threads that were set wait for a disk, and runs on 8 cores were held out.
std::vector<Plan> plans_of_a_disk() {
  std::vector<LoggedRun> runs;
  for (const int cores : {2, 4, 8}) {
    runs.push_back(synthetic_run({}, {.id = std::to_string(cores),
                                      .cores = cores,
                                      .settings = {{"rank", "20"}, {"threads.write", "3"}},
                                      .arrival_per_s = 900.0 + 50 * cores}));
    runs.back().time = "2026-11-22T10:0" + std::to_string(cores) + ":00Z";
    for (ThroughputSample& each : runs.back().intervals) {
      StageSample& write = each.stages.at(2);
      write.workers = 3;
      write.busy_s = 3 * each.interval_s;
    }
  }
  PlanRequest request{.fit_cores = {2, 4}};
  set_target(request, parse_rate("1500/s"));
  return make_plans(runs, request);
}

/// Two tasks at a time on each of two nodes, and a last one.
std::vector<Plan> plans_of_nodes() {
  std::vector<LoggedRun> runs;
  for (int task = 0; task < 5; ++task) {
    runs.push_back(with_outputs(synthetic_run({}, {.id = std::to_string(task), .cores = 2})));
    runs.back().host = task % 2 == 0 ? "n1" : "n2";
    runs.back().time = task < 4 ? "2026-11-22T10:00:00Z" : "2026-11-22T10:00:08.5Z";
  }
  return make_plans(runs, {});
}

std::vector<Plan> plans_of_records() {
  PlanRequest request{.prices = Prices{.core_h = 0.04, .gpu_h = 3.5, .kwh = 0.3}};
  set_target(request, parse_rate("250/s"));
  return make_plans(reference_runs("h200"), request);
}

struct PlanReportCase {
  const char* name;
  std::vector<Plan> (*plans)();
};

class PlanReportTest : public testing::TestWithParam<PlanReportCase> {
 protected:
  static std::string read(const std::string& name) {
    std::ifstream file(std::string(ECKART_SOURCE_DIR "/tests/unit/capacity/plans/") + name,
                       std::ios::binary);
    EXPECT_TRUE(file) << name;
    return {std::istreambuf_iterator<char>(file), {}};
  }
};

INSTANTIATE_TEST_SUITE_P(All, PlanReportTest,
                         testing::Values(PlanReportCase{"scaling", plans_of_scaling},
                                         PlanReportCase{"gpu", plans_of_a_gpu},
                                         PlanReportCase{"service", plans_of_a_service},
                                         PlanReportCase{"disk", plans_of_a_disk},
                                         PlanReportCase{"nodes", plans_of_nodes},
                                         PlanReportCase{"records", plans_of_records}),
                         [](const auto& each) { return std::string(each.param.name); });

TEST_P(PlanReportTest, has_the_text_of_its_file) {
  const std::vector<Plan> plans = GetParam().plans();
  std::string text = to_text(plans);
  for (const Plan& plan : plans)
    text += "\n" + manager_paragraph(plan) + "\n" + amdahl_sentence(plan) + "\n" +
            gustafson_sentence(plan) + "\n" + littles_law_sentence(plan) + "\n";
  EXPECT_EQ(text, read(GetParam().name + std::string(".txt")));
}

/// Numbers may differ in their last digits.
void expect_equal(const nlohmann::json& found, const nlohmann::json& expected,
                  const std::string& path) {
  if (found.is_number() && expected.is_number()) {
    const auto a = found.get<double>(), b = expected.get<double>();
    EXPECT_LE(std::abs(a - b), 1e-6 * std::abs(b) + 1e-12) << path << ": " << a << ", not " << b;
    return;
  }
  if (!found.is_structured()) {
    EXPECT_EQ(found, expected) << path;
    return;
  }
  ASSERT_EQ(found.size(), expected.size()) << path;
  for (const auto& [key, value] : found.items()) {
    const bool is_known = !expected.is_object() || expected.contains(key);
    ASSERT_TRUE(is_known) << path << "." << key;
    expect_equal(value, expected.is_object() ? expected.at(key) : expected.at(std::stoul(key)),
                 path + "." + key);
  }
}

TEST_P(PlanReportTest, has_the_figures_of_its_json_file) {
  nlohmann::json all = nlohmann::json::array();
  for (const Plan& plan : GetParam().plans()) all.push_back(nlohmann::json::parse(to_json(plan)));
  expect_equal(all, nlohmann::json::parse(read(GetParam().name + std::string(".json"))), "plan");
}

/// Tables and sentences of the page are those of the text.
TEST_P(PlanReportTest, has_the_same_tables_and_sentences_in_its_page) {
  const std::vector<Plan> plans = GetParam().plans();
  std::string page = to_html(plans, {"a <warning>"});
  for (std::size_t at = 0; (at = page.find("&nbsp;", at)) != page.npos;) page.replace(at, 6, " ");
  const auto expect_part = [&](const std::string& part) {
    EXPECT_NE(page.find(part), page.npos) << part;
  };
  const auto escaped = [](std::string text) {
    for (std::size_t at = 0; (at = text.find('\'', at)) != text.npos;) text.replace(at, 1, "&#39;");
    return text;
  };
  expect_part("<p class='warning'>a &lt;warning&gt;</p>");
  for (const Plan& plan : plans) {
    expect_part(escaped(manager_paragraph(plan)));
    for (const std::string& reason : reasons(plan)) expect_part("<li>" + escaped(reason) + "</li>");
    for (const std::string& caveat : caveats(plan)) expect_part("<li>" + escaped(caveat) + "</li>");
    for (const BasisLine& line : basis(plan))
      expect_part("<dt>" + line.label + "</dt><dd>" + escaped(line.text) + "</dd>");
    for (const std::string& law :
         {amdahl_sentence(plan), gustafson_sentence(plan), littles_law_sentence(plan)})
      expect_part(escaped(law));
    for (const Table& table : {options_table(plan), rates_table(plan), busy_table(plan)}) {
      if (!table.rows.empty()) expect_part(table.title);
      for (const auto& row : table.rows)
        for (const Cell& cell : row) expect_part(">" + escaped(cell.text) + "<");
    }
  }
}

}  // namespace
}  // namespace eckart::capacity::test
