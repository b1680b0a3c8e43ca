#include "bench/pipeline_result.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace eckart::bench {
namespace {

using testing::Contains;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::Not;

/// A rate of images that need this CPU time each.
Rate rate(double per_s, double cpu_us) {
  return {.count = 1000, .wall_s = 1000 / per_s, .cpu_s = 1e-3 * cpu_us};
}

PipelineRow stage(const std::string& name, int threads, double per_s, double cpu_us) {
  return {.name = name, .threads = threads, .rounds = {rate(per_s, cpu_us)}};
}

WholeRun whole_run(double per_s) {
  return {.images = 1000,
          .images_per_s = per_s,
          .images_per_s_with_start = per_s / 2,
          .start_s = 0.25,
          .cpu_us_per_image = 700};
}

/// On 4 cores: an image takes 10 + 100 + 5 + 300 + 85 = 500 us of them, so they allow 8,000
/// images/s. Alone, each stage is faster than that, except for source in some tests.
PipelineResult result() {
  PipelineResult result;
  result.backend = "cpu";
  result.cores = 4;
  result.files = 3;
  result.seconds = 5;
  result.stages = {stage("source", 1, 100'000, 10), stage("load", 2, 20'000, 100),
                   stage("batch", 1, 200'000, 5), stage("compute", 4, 13'000, 300),
                   stage("write", 3, 35'000, 85)};
  result.stages.back().durability = "group";
  result.stages.push_back(stage("write", 3, 40'000, 75));
  result.stages.back().durability = "none";
  result.file_system = {stage("read", 2, 200'000, 8), stage("read and write", 5, 50'000, 30),
                        stage("read and write", 5, 90'000, 20)};
  result.file_system[1].durability = "group";
  result.file_system[2].durability = "none";
  result.whole = {{"group", {whole_run(7'200), whole_run(7'600), whole_run(7'000)}},
                  {"none", {whole_run(7'400)}}};
  return result;
}

TEST(PipelineResult, compares_the_median_of_whole_runs_with_each_limit) {
  const PipelineResult measured = result();
  const PipelineLimits limits = measured.limits(0);
  EXPECT_EQ(limits.whole_per_s, 7'200);
  EXPECT_EQ(limits.slowest_stage->name, "compute");
  EXPECT_THAT(limits.slowest_stage_per_s, DoubleNear(13'000, 1e-6));
  EXPECT_THAT(limits.cores_per_s, DoubleNear(8'000, 1e-6));
  EXPECT_THAT(limits.file_system_per_s, DoubleNear(50'000, 1e-6));
  EXPECT_EQ(limits.largest_part->name, "compute");
  EXPECT_THAT(limits.largest_part_share, DoubleNear(0.6, 1e-6));
  EXPECT_THAT(measured.limits(1).file_system_per_s, DoubleNear(90'000, 1e-6));
}

TEST(PipelineResult, names_the_part_with_the_largest_share_instead_of_its_stage) {
  PipelineResult measured = result();
  measured.stages[1] = stage("load", 2, 5'000, 400);
  measured.stages.insert(measured.stages.begin() + 2, stage("decode", 2, 6'000, 350));
  measured.stages[2].part_of = "load";
  EXPECT_EQ(measured.limits(0).largest_part->name, "decode");
}

TEST(PipelineResult, concludes_that_the_cores_are_the_limit) {
  EXPECT_EQ(conclusion(result()),
            "limit: the 4 cores, 60 % of whose time is compute. The run reaches 90 % of the 8,000 "
            "images/s of that limit. What helps: more cores, or a GPU.");
}

TEST(PipelineResult, concludes_that_a_stage_is_the_limit_and_what_helps) {
  PipelineResult measured = result();
  measured.stages[0] = stage("source", 1, 7'500, 10);
  EXPECT_THAT(conclusion(measured),
              AllOf(HasSubstr("limit: the stage source."), HasSubstr("96 % of the 7,500"),
                    HasSubstr("it has one thread"), Not(HasSubstr("lost between"))));
  measured = result();
  measured.stages[4].rounds = {rate(7'500, 85)};  // its threads wait
  EXPECT_THAT(conclusion(measured), HasSubstr("a faster disk, or --set durability=none"));
  measured.stages.push_back(stage("ledger", 3, 9'000, 12));
  measured.stages.back().part_of = "write";
  measured.stages.back().durability = "group";
  EXPECT_THAT(conclusion(measured),
              AllOf(HasSubstr("limit: the stage write, of which the slowest part is ledger."),
                    HasSubstr("its threads wait for the ledger")));
  measured.stages.back().name = "encode";
  EXPECT_THAT(conclusion(measured), HasSubstr("--set threads.write=N with N above 3"))
      << "a disk does not make encoding faster";
  measured.stages[4].rounds = {rate(7'500, 395)};
  measured.cores = 16;
  EXPECT_THAT(conclusion(measured), HasSubstr("--set threads.write=N with N above 3"));
}

TEST(PipelineResult, tells_that_more_is_lost_than_a_limit_explains) {
  PipelineResult measured = result();
  measured.whole[0].rounds = {whole_run(4'000)};
  EXPECT_THAT(conclusion(measured), HasSubstr("reaches 50 % of the 8,000 images/s of that limit; "
                                              "the rest is lost between the stages."));
}

TEST(PipelineResult, tells_that_a_run_reaches_its_limit) {
  PipelineResult measured = result();
  measured.whole[0].rounds = {whole_run(8'100)};
  EXPECT_THAT(conclusion(measured),
              HasSubstr(". The run reaches that limit, 8,000 images/s. What"));
}

TEST(PipelineResult, tells_that_the_file_system_is_close) {
  PipelineResult measured = result();
  EXPECT_THAT(conclusion(measured), Not(HasSubstr("file system")));
  measured.file_system[1].rounds = {rate(9'000, 30)};
  EXPECT_THAT(conclusion(measured),
              HasSubstr("The file system is close: alone it allows 9,000 images/s."));
}

TEST(PipelineResult, does_not_conclude_if_other_programs_used_the_cores) {
  PipelineResult measured = result();
  measured.stages[3].rounds = {rate(6'000, 300)};  // 1.8 of 4 cores
  EXPECT_THAT(
      conclusion(measured),
      HasSubstr("limit: not known: other programs used the cores; no stage got more than "));
}

TEST(PipelineResult, keeps_only_complete_rounds) {
  PipelineResult measured = result();
  EXPECT_EQ(measured.rounds(), 3);
  measured.stages[0].rounds = {rate(100, 1), rate(200, 1)};
  measured.file_system[0].rounds = {rate(1, 1), rate(2, 1)};
  measured.keep_rounds(1);
  EXPECT_EQ(measured.rounds(), 1);
  EXPECT_EQ(measured.whole[1].rounds.size(), 1U);
  EXPECT_THAT(measured.stages[0].per_s().median, DoubleNear(100, 1e-6));
  EXPECT_EQ(measured.file_system[0].rounds.size(), 1U);
}

TEST(PipelineResult, has_parts_after_their_stages) {
  PipelineResult measured;
  PipelineRow part = stage("encode", 3, 1, 1);
  part.part_of = "write";
  measured.stages = {part, stage("write", 3, 1, 1), stage("write", 3, 1, 1),
                     stage("load", 2, 1, 1)};
  measured.place_parts_after_stages();
  std::vector<std::string> names;
  for (const PipelineRow& row : measured.stages) names.push_back(row.name);
  EXPECT_THAT(names, testing::ElementsAre("load", "write", "write", "encode"));
}

TEST(PipelineResult, shows_what_the_gpu_does_without_a_rate) {
  PipelineResult measured = result();
  measured.stages.push_back(
      {.name = "encode", .part_of = "write", .threads = 3, .worker = Worker::gpu});
  EXPECT_THAT(to_text(measured), HasSubstr("on the GPU, see compute"));
  const auto json = nlohmann::json::parse(to_json(measured));
  EXPECT_TRUE(json["stages"].back()["on_gpu"]);
  EXPECT_TRUE(json["stages"].back()["images_per_s"].is_null());
  EXPECT_EQ(json["whole"][0]["images_per_s"]["median"], 7'200);
  EXPECT_EQ(json["whole"][0]["images_per_s"]["max"], 7'600);
  EXPECT_EQ(json["whole"][1]["slowest_stage"], "compute");
  EXPECT_NEAR(double(json["whole"][0]["ratio_to_cores"]), 0.9, 1e-6);
}

TEST(PipelineResult, becomes_a_table_of_a_report) {
  PipelineResult with_parts = result();
  with_parts.stages.push_back(stage("decode", 2, 25'000, 80));
  with_parts.stages.back().part_of = "load";
  with_parts.stages.push_back({.name = "encode", .part_of = "write", .worker = Worker::gpu});
  const Table table = to_table(with_parts);
  std::vector<std::vector<std::string>> rows;
  for (const std::vector<Cell>& cells : table.rows) {
    std::vector<std::string>& row = rows.emplace_back();
    for (const Cell& cell : cells) row.push_back(to_text(cell, Column{}));
  }
  using Row = std::vector<std::string>;
  EXPECT_THAT(rows, Contains(Row{"each stage alone", "load: decode", "2", "25,000", "80.0"}));
  EXPECT_THAT(
      rows, Contains(Row{"each stage alone", "write: encode", "1", "on the GPU, in compute", "-"}));
  EXPECT_THAT(rows,
              Contains(Row{"all at once", "whole run, durability group", "-", "7,200", "700"}));
  EXPECT_THAT(rows, Contains(Row{"all at once", "whole run, durability group, with its start", "-",
                                 "3,600", "-"}));
  EXPECT_THAT(rows, Contains(Row{"file system, without other work",
                                 "read and write, durability none", "5", "90,000", "20.0"}));
  EXPECT_EQ(table.lesson, conclusion(with_parts));
}

TEST(PipelineResult, is_aligned) {
  std::istringstream lines(to_text(result()));
  for (std::string line; std::getline(lines, line);) {
    if (line.find(" to ") == line.npos) continue;
    EXPECT_EQ(line.rfind('('), 62u) << line;
  }
}

TEST(Spread, is_that_of_all_rounds) {
  const Spread even = spread({4, 1, 2, 3});
  EXPECT_EQ(even.median, 2.5);
  EXPECT_EQ(even.min, 1);
  EXPECT_EQ(even.max, 4);
  EXPECT_EQ(spread({5, 1, 2}).median, 2);
  EXPECT_EQ(spread({}).median, 0);
}

}  // namespace
}  // namespace eckart::bench
