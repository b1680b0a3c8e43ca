#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "reports/run_report_text.hpp"
#include "tests/support/filled_snapshot.hpp"

namespace eckart::reports {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::vector<std::string> split_lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) result.push_back(line);
  return result;
}

telemetry::StageStats make_stage(Stage name, int workers, double busy_s = 0, double input_s = 0,
                                 double blocked_s = 0) {
  telemetry::StageStats stage;
  stage.stage = name;
  stage.workers = workers;
  stage.busy_s = busy_s, stage.waiting_for_input_s = input_s, stage.blocked_s = blocked_s;
  return stage;
}

telemetry::RunReport make_report() {
  telemetry::RunReport report;
  report.backend = "cpu";
  report.backend_details = "OpenBLAS, 2 threads";
  report.done = 9996;
  report.skipped = 1;
  report.failed = 3;
  report.ignored = 12;
  report.not_read = {{".tif", 10}, {".heic", 1}};
  report.failures[std::size_t(FailureReason::empty_file)] = 1;
  report.failures[std::size_t(FailureReason::corrupt)] = 2;
  report.pixels = 2'620'000'000;
  report.input_bytes = 1'234'000'000;
  report.output_bytes = 617'000'000;
  report.wall_s = report.pipeline_s = 20;
  report.psnr_db_mean = 34.212;
  report.psnr_db_min = 21.07;
  report.max_loss_estimate_db = 0.0031;
  report.max_loss_bound_db = std::numeric_limits<double>::quiet_NaN();
  report.outputs = 19992;
  report.planes = 29988, report.planes_recomputed = 1234;
  report.solvers = {{64, 32, 20, 512, "gram", "about 2 us a plane"},
                    {256, 192, 20, 512, "subspace", "48 of 192 columns"}};
  report.stages = {make_stage(Stage::load, 2, 10, 0, 30),
                   make_stage(Stage::compute, 1, 19.4, 0.5, 0.1),
                   make_stage(Stage::write, 2, 8, 32, 0)};
  return report;
}

TEST(BottleneckText, names_the_stage_with_the_highest_busy_ratio) {
  telemetry::RunReport report = make_report();
  report.stages = {make_stage(Stage::load, 8, 90, 0, 70), make_stage(Stage::compute, 1, 19, 1, 0),
                   make_stage(Stage::write, 2, 30, 10, 0)};
  EXPECT_EQ(bottleneck_text(report), "compute is the bottleneck: 95 % busy");
}

TEST(BottleneckText, names_the_disk_if_the_stage_mostly_waits_for_it) {
  telemetry::RunReport report = make_report();
  telemetry::StageStats write = make_stage(Stage::write, 1, 9, 1, 0);
  write.cpu_s = 2;
  report.stages = {make_stage(Stage::load, 1, 2, 0, 8), write};
  report.machine.cores = 2, report.machine.idle_core_s = 30;
  EXPECT_EQ(bottleneck_text(report),
            "the disk is the bottleneck: write 90 % busy, mostly waiting for files. A faster disk "
            "helps");
  report.stages.back().cpu_s = 8;
  EXPECT_EQ(bottleneck_text(report),
            "write is the bottleneck: 90 % busy. More threads may help: --set threads.write=auto");
}

TEST(BottleneckText, names_no_stage_that_mostly_waits) {
  telemetry::RunReport report = make_report();
  report.stages = {make_stage(Stage::load, 1, 2, 0, 8), make_stage(Stage::write, 1, 3, 7, 0)};
  EXPECT_EQ(bottleneck_text(report), "no stage is saturated: write is the busiest, 30 % busy");
}

TEST(BottleneckText, is_empty_without_work) {
  EXPECT_EQ(bottleneck_text(telemetry::RunReport{}), "");
  telemetry::RunReport nothing_came = make_report();
  nothing_came.done = nothing_came.skipped = nothing_came.failed = 0;
  EXPECT_EQ(bottleneck_text(nothing_came), "");
  telemetry::RunReport no_clock = make_report();
  for (telemetry::StageStats& stage : no_clock.stages)
    stage = make_stage(stage.stage, stage.workers);
  EXPECT_EQ(bottleneck_text(no_clock), "");
}

TEST(RunReportText, counts_the_images_by_result) {
  const std::string text = to_text(make_report());
  EXPECT_THAT(text, HasSubstr("images      9,996 done, 3 failed, 1 skipped\n"
                              "ignored     11 files not read: 10 .tif, 1 .heic; "
                              "1 other ignored (hidden, temporary, or link)\n"));
  EXPECT_THAT(text, HasSubstr("failures    2 corrupt, 1 empty file\n"));
  EXPECT_THAT(text, HasSubstr("note        1,234 of 29,988 planes were recomputed"));
  EXPECT_THAT(text, HasSubstr("outputs     19,992; loss estimate at most 0.003 dB\n"));
  EXPECT_THAT(text, HasSubstr("backend     cpu: OpenBLAS, 2 threads\n"));
  EXPECT_THAT(text, HasSubstr("500 images/s, 131 Mpixel/s; files: 61.7 MB/s read, 30.9 MB/s wr"));
  EXPECT_THAT(text, Not(HasSubstr("INTERRUPTED")));
}

TEST(RunReportText, tells_what_the_gpu_decoded_and_encoded) {
  telemetry::RunReport report = make_report();
  EXPECT_THAT(to_text(report), Not(HasSubstr("on the GPU")));
  report.decoded_on_gpu = 9000, report.encoded_on_gpu = 19992;
  EXPECT_THAT(to_text(report),
              HasSubstr("on the GPU  9,000 of 9,996 images decoded, 19,992 of 19,992 outputs "
                        "encoded\n"));
}

/// Returns the summary of outputs with these PSNRs.
telemetry::RankSummary make_rank(const std::string& rank, const std::vector<double>& psnrs_db) {
  telemetry::RankSummary summary{rank};
  summary.outputs = std::int64_t(psnrs_db.size());
  for (const double psnr_db : psnrs_db) summary.psnr_db.add(psnr_db);
  summary.output_bytes = 1'234'000;
  summary.compute_s = 0.3, summary.write_s = 0.0105;
  return summary;
}

TEST(RunReportText, has_a_row_for_each_rank) {
  telemetry::RunReport report = make_report();
  report.ranks = {make_rank("5", {24, 25, 21.07}), make_rank("energy:0.99", {43, 30})};
  EXPECT_THAT(
      to_text(report),
      HasSubstr(
          "\nrank          outputs  PSNR mean  median minimum    written   compute     write\n"
          "5                   3      23.36   24.00   21.07    1.23 MB    100 ms   3.50 ms\n"
          "energy:0.99         2      36.50   36.50   30.00    1.23 MB    150 ms   5.25 ms\n"));
}

TEST(RunReportText, has_columns_of_ssim_if_it_was_measured) {
  telemetry::RunReport report = make_report();
  report.ranks = {make_rank("5", {24, 25}), make_rank("20", {43, 30})};
  EXPECT_THAT(to_text(report), Not(HasSubstr("SSIM")));
  for (const double ssim : {0.5, 0.75}) report.ranks[1].ssim.add(ssim);
  EXPECT_THAT(to_text(report), AllOf(HasSubstr(" minimum  SSIM mean  median minimum    written"),
                                     HasSubstr("   24.00          -       -       -    1.23 MB"),
                                     HasSubstr("   30.00     0.6250  0.6250  0.5000    1.23 MB")));
}

/// 54 dB of the pixels says nothing about a JPEG file that has 35 dB.
TEST(RunReportText, shows_the_psnr_of_the_files_if_all_were_measured) {
  telemetry::RunReport report = make_report();
  report.ranks = {make_rank("5", {54, 55})};
  report.ranks[0].file_psnr_db.add(35);
  EXPECT_THAT(to_text(report), HasSubstr("      54.50   54.50   54.00 "));
  report.ranks[0].file_psnr_db.add(36);
  EXPECT_THAT(to_text(report), HasSubstr("      35.50   35.50   35.00 "));
}

TEST(RunReportJson, has_the_quality_and_cost_of_each_rank) {
  telemetry::RunReport report = make_report();
  report.ranks = {make_rank("5", {24, 25, 21.07})};
  report.ranks[0].ssim.add(0.5);
  const auto rank = nlohmann::json::parse(to_json(report)).at("ranks").at(0);
  EXPECT_EQ(rank.at("rank"), "5");
  EXPECT_EQ(rank.at("outputs"), 3);
  EXPECT_EQ(rank.at("psnr_db_median"), 24);
  EXPECT_EQ(rank.at("psnr_db_min"), 21.07);
  EXPECT_TRUE(rank.at("file_psnr_db_mean").is_null());
  EXPECT_TRUE(rank.at("ssim_mean").is_null()) << "not of all outputs";
  EXPECT_EQ(rank.at("output_bytes"), 1'234'000);
  EXPECT_EQ(rank.at("compute_s"), 0.3);
}

TEST(RunReportText, has_no_table_if_nothing_was_done) {
  telemetry::RunReport report = make_report();
  report.done = report.skipped = report.outputs = 0;
  EXPECT_THAT(to_text(report), HasSubstr("images      0 done, 3 failed"));
  for (const char* words : {"stage", "bottleneck", "backend", "solver"})
    EXPECT_THAT(to_text(report), Not(HasSubstr(words)));
}

TEST(RunReportText, reports_a_missing_loss_estimate) {
  telemetry::RunReport report = make_report();
  report.max_loss_estimate_db = std::numeric_limits<double>::infinity();
  EXPECT_THAT(to_text(report), HasSubstr("; no loss estimate for some outputs\n"));
}

TEST(RunReportText, states_what_is_proven) {
  telemetry::RunReport report = make_report();
  report.max_loss_bound_db = 0.0042;
  EXPECT_THAT(to_text(report), HasSubstr("; proven loss at most 0.004 dB\n"));
}

TEST(RunReportText, lists_the_solvers_with_the_selection_reason) {
  EXPECT_THAT(to_text(make_report()),
              HasSubstr("solver      64 x 32, rank 20: gram (about 2 us a plane)\n"
                        "            256 x 192, rank 20: subspace (48 of 192 columns)\n\n"));
  EXPECT_THAT(to_text(telemetry::RunReport{}), Not(HasSubstr("solver")));
}

TEST(RunReportText, lists_three_shapes_and_counts_the_others) {
  telemetry::RunReport report = make_report();
  for (int rows = 301; rows <= 303; ++rows) report.solvers.push_back({rows, 10, 5, 1, "gram", "x"});
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("301 x 10"));
  EXPECT_THAT(text, Not(HasSubstr("302 x 10")));
  EXPECT_THAT(text, HasSubstr("            2 more shapes: see --json\n"));
}

TEST(RunReportText, begins_with_the_interruption) {
  telemetry::RunReport report = make_report();
  report.interrupted = true;
  EXPECT_EQ(to_text(report).find("INTERRUPTED "), 0u);
}

TEST(RunReportText, ends_with_the_warnings_and_a_newline) {
  telemetry::RunReport report = make_report();
  report.warnings = {"3 images were computed on the CPU", "the ledger was rebuilt"};
  const std::string end = "note        the ledger was rebuilt\n";
  const std::string text = to_text(report);
  EXPECT_EQ(text.substr(text.size() - end.size()), end);
}

TEST(RunReportText, has_stage_percentages_that_add_up_to_100) {
  const std::regex table_row(R"((\w+) +\d+ +(\d+) % +(\d+) % +(\d+) %)");
  int rows = 0;
  for (const std::string& line : split_lines(to_text(make_report()))) {
    std::smatch match;
    if (!std::regex_match(line, match, table_row)) continue;
    ++rows;
    EXPECT_NEAR(std::stoi(match[2]) + std::stoi(match[3]) + std::stoi(match[4]), 100, 1) << line;
    if (match[1] == "load") {
      EXPECT_EQ(match[2], "25");
      EXPECT_EQ(match[4], "75");
    }
  }
  EXPECT_EQ(rows, 3);
}

TEST(RunReportText, has_aligned_table_columns) {
  telemetry::RunReport report = make_report();
  report.stages.push_back(make_stage(Stage::batch, 128));
  std::vector<std::size_t> widths;
  bool inside = false;
  for (const std::string& line : split_lines(to_text(report))) {
    if (line.rfind("stage ", 0) == 0) inside = true;
    if (line.empty()) inside = false;
    if (inside) widths.push_back(line.size());
  }
  ASSERT_EQ(widths.size(), 5u);
  EXPECT_THAT(widths, testing::Each(widths.front()));
}

TEST(RunReportText, calls_a_worker_that_waits_for_capacity_blocked) {
  EXPECT_THAT(to_text(make_report()),
              AllOf(HasSubstr("input wait blocked\n"), Not(HasSubstr("capacity"))));
}

TEST(RunReportText, is_ascii_of_at_most_100_columns) {
  telemetry::RunReport report = make_report();
  report.interrupted = true;
  for (const std::string& line : split_lines(to_text(report))) {
    EXPECT_LE(line.size(), 100u) << line;
    for (const char c : line) EXPECT_TRUE(c >= ' ' && c <= '~') << line;
  }
}

TEST(RunReportText, omits_rate_and_quality_without_done_images) {
  telemetry::RunReport report;
  report.wall_s = 0.2;
  const std::string text = to_text(report);
  EXPECT_THAT(text, HasSubstr("images      0 done, 0 failed\n"));
  EXPECT_THAT(text, Not(HasSubstr("rate")));
  EXPECT_THAT(text, Not(HasSubstr("PSNR")));
  EXPECT_THAT(text, Not(HasSubstr("nan")));
  EXPECT_NO_THROW(to_text(telemetry::RunReport{}));
}

TEST(RunReportJson, is_one_object_on_one_line) {
  const std::string text = to_json(make_report());
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_TRUE(nlohmann::json::parse(text).is_object());
}

TEST(RunReportJson, has_all_values_with_consistent_sums) {
  const telemetry::RunReport report = make_report();
  const auto json = nlohmann::json::parse(to_json(report));
  std::int64_t failures = 0;
  for (const auto& [reason, count] : json["failures"].items()) {
    EXPECT_GT(count, 0) << reason;
    failures += count.get<std::int64_t>();
  }
  EXPECT_EQ(failures, json["failed"]);
  EXPECT_EQ(json["failures"].size(), 2u);
  EXPECT_EQ(json["done"].get<int>() + json["failed"].get<int>() + json["skipped"].get<int>(),
            report.images());
  EXPECT_DOUBLE_EQ(json["images_per_s"].get<double>() * json["wall_s"].get<double>(), 9996);
  EXPECT_DOUBLE_EQ(json["input_bytes_per_s"].get<double>() * 20, 1'234'000'000);
  EXPECT_EQ(json["bottleneck"], "compute");
  EXPECT_EQ(json["bottleneck_text"], bottleneck_text(report));
  ASSERT_EQ(json["solvers"].size(), 2u);
  EXPECT_EQ(json["solvers"][1], nlohmann::json({{"rows", 256},
                                                {"cols", 192},
                                                {"rank", 20},
                                                {"planes_per_batch", 512},
                                                {"solver", "subspace"},
                                                {"reason", "48 of 192 columns"}}));
  for (const auto& stage : json["stages"]) {
    const double total = stage["busy_s"].get<double>() +
                         stage["waiting_for_input_s"].get<double>() +
                         stage["blocked_s"].get<double>();
    EXPECT_NEAR(total, stage["workers"].get<int>() * 20, 1e-9);
    EXPECT_NEAR(stage["busy_ratio"].get<double>() * total, stage["busy_s"].get<double>(), 1e-9);
  }
}

TEST(RunReportJson, has_nulls_when_nothing_was_measured) {
  const auto json = nlohmann::json::parse(to_json(telemetry::RunReport{}));
  EXPECT_TRUE(json["psnr_db_mean"].is_null());
  EXPECT_TRUE(json["psnr_db_min"].is_null());
  EXPECT_TRUE(json["max_loss_estimate_db"].is_null());
  EXPECT_TRUE(json["bottleneck"].is_null());
  EXPECT_EQ(json["images_per_s"], 0.0);
  EXPECT_TRUE(json["failures"].empty());
  EXPECT_TRUE(json["stages"].empty());
  EXPECT_TRUE(json["solvers"].empty());
}

TEST(RunReportJson, is_valid_json_with_warnings_that_are_not_utf8) {
  telemetry::RunReport report = make_report();
  report.warnings = {"could not read caf\xe9.png"};
  EXPECT_TRUE(nlohmann::json::accept(to_json(report)));
}

TEST(MeasurementText, tells_of_images_and_time_and_of_no_outputs) {
  telemetry::RunReport report = make_report();
  report.skipped = 0;
  const std::string text = measurement_text(report);
  EXPECT_THAT(text, HasSubstr("images      9,996 measured, 3 failed\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("\nignored "), HasSubstr("\nfailures "), HasSubstr("\ntime ")));
  EXPECT_THAT(text, HasSubstr("rate        500 images/s, 131 Mpixel/s\n"));
  for (const char* words : {"done", "outputs", "written", "rank ", "stage", "solver", "bottleneck"})
    EXPECT_THAT(text, Not(HasSubstr(words)));
  report.interrupted = true;
  EXPECT_THAT(measurement_text(report), testing::StartsWith("INTERRUPTED the figures below"))
      << "nothing continues it";
}

TEST(RunReportJson, has_every_value_in_its_place) {
  telemetry::RunReport report;
  static_cast<telemetry::ImageCounts&>(report) = test::filled_snapshot(1).counts;
  report.backend = "cuda", report.backend_details = "H200", report.backend_reason = "fastest";
  report.partly_done = 1, report.ignored = 31, report.not_read = {{".tif", 29}};
  report.wall_s = 20, report.cpu_s = 41, report.pipeline_s = 10;
  report.psnr_db_mean = 35, report.psnr_db_min = 25;
  report.max_loss_estimate_db = 0.25, report.max_loss_bound_db = 0.5;
  report.planes_recomputed = 3, report.decoded_on_gpu = 4, report.encoded_on_gpu = 5;
  report.interrupted = true, report.stopped_by = "no space";
  report.solvers = {{64, 32, 20, 512, "gram", "fast"}};
  report.stages = test::filled_snapshot(1).stages;
  report.machine.cores = 4;
  report.warnings = {"a warning"};
  telemetry::RankSummary& rank = report.ranks.emplace_back(telemetry::RankSummary{"5"});
  rank.outputs = 3;
  for (const double number : {1, 2, 6}) {
    rank.psnr_db.add(number);
    rank.file_psnr_db.add(10 * number);
    rank.ssim.add(number / 8);
  }
  rank.output_bytes = 51, rank.compute_s = 52, rank.write_s = 53;
  const auto json = nlohmann::json::parse(to_json(report));
  const auto expected =
      nlohmann::json::parse(R"({"kind": "summary", "done": 11, "failed": 13, "skipped": 12,
    "ignored": 31, "not_read": {".tif": 29}, "failures": {"corrupt": 14, "not written": 15},
    "interrupted": true, "stopped_by": "no space", "outputs": 22, "psnr_db_mean": 35,
      "psnr_db_min": 25,
    "ranks": [{"rank": "5", "outputs": 3, "psnr_db_mean": 3, "psnr_db_median": 2, "psnr_db_min": 1,
      "file_psnr_db_mean": 30, "file_psnr_db_median": 20, "file_psnr_db_min": 10,
      "ssim_mean": 0.375, "ssim_median": 0.25, "ssim_min": 0.125, "output_bytes": 51,
      "compute_s": 52, "write_s": 53}],
    "max_loss_estimate_db": 0.25, "max_loss_bound_db": 0.5, "planes": 21, "planes_recomputed": 3,
    "decoded_on_gpu": 4, "encoded_on_gpu": 5, "pixels": 20000, "input_bytes": 23000,
      "output_bytes": 24000,
    "wall_s": 20, "images_per_s": 0.55, "pixels_per_s": 1000, "input_bytes_per_s": 1150,
      "output_bytes_per_s": 1200,
    "cores": 4, "cpu_s": 41, "backend": "cuda", "backend_details": "H200",
      "backend_reason": "fastest",
    "solvers": [{"rows": 64, "cols": 32, "rank": 20, "planes_per_batch": 512, "solver": "gram",
      "reason": "fast"}],
    "stages": [
      {"name": "load", "workers": 2, "busy_s": 12, "waiting_for_input_s": 6, "blocked_s": 1.5,
      "cpu_s": 4, "busy_ratio": 0},
      {"name": "write", "workers": 1, "busy_s": 2, "waiting_for_input_s": 7, "blocked_s": 1.1,
      "cpu_s": 0.5, "busy_ratio": 0}],
    "bottleneck": "load", "warnings": ["a warning"],
    "bottleneck_text": "load is the bottleneck: 62 % busy. More threads may help: --set threads.load=auto"
  })");
  auto exact = json;
  for (auto& stage : exact["stages"]) stage["busy_ratio"] = 0;
  EXPECT_EQ(exact, expected) << nlohmann::json::diff(exact, expected);
  EXPECT_NEAR(json["stages"][0]["busy_ratio"].get<double>(), 12 / 19.5, 1e-9);
}

TEST(RunReportText, begins_with_the_error_that_ended_the_run) {
  telemetry::RunReport report = make_report();
  report.interrupted = true;
  report.stopped_by = "the disk\nis full";
  for (const std::string& text : {to_text(report), measurement_text(report)})
    EXPECT_THAT(
        text,
        testing::StartsWith(
            "STOPPED     the disk\\nis full; the figures below cover the work done before that\n"));
  report.stopped_by.clear();
  EXPECT_THAT(to_text(report),
              testing::StartsWith("INTERRUPTED the same command continues; the figures below"));
}

TEST(RunReportText, keeps_the_warnings_if_nothing_was_done) {
  telemetry::RunReport report = make_report();
  report.done = report.skipped = report.outputs = 0;
  report.warnings = {"a warning"};
  EXPECT_THAT(to_text(report), testing::EndsWith("note        a warning\n"));
  EXPECT_THAT(to_text(report), Not(HasSubstr("rate")));
  EXPECT_THAT(measurement_text(report), Not(HasSubstr("rate")));
  report.skipped = 1;
  EXPECT_THAT(to_text(report), HasSubstr("backend     cpu")) << "the run has compared files";
}

TEST(RunReportText, counts_only_files_that_are_not_read_if_no_others_are_ignored) {
  telemetry::RunReport report;
  report.ignored = 11;
  report.not_read = {{".tif", 10}, {".heic", 1}};
  EXPECT_EQ(ignored_text(report), "11 files not read: 10 .tif, 1 .heic");
  report.not_read.clear();
  EXPECT_EQ(ignored_text(report), "11 files ignored (hidden, temporary, or link)");
  report.ignored = 0;
  EXPECT_THAT(to_text(report), Not(HasSubstr("ignored")));
}

TEST(RunReportText, has_other_numbers_of_outputs_and_images_on_the_gpu) {
  telemetry::RunReport report = make_report();
  report.encoded_on_gpu = 5;
  EXPECT_THAT(to_text(report),
              HasSubstr("on the GPU  0 of 9,996 images decoded, 5 of 19,992 outputs encoded\n"));
  report.ranks = {make_rank("5", {})};
  EXPECT_THAT(to_text(report), Not(HasSubstr("\n5 "))) << "a rank without outputs";
}

TEST(RunReportText, has_each_share_of_a_stage_in_its_column) {
  telemetry::RunReport report = make_report();
  report.stages = {make_stage(Stage::load, 2, 10, 25, 65)};
  EXPECT_THAT(to_text(report), HasSubstr("load              2    10 %       25 %    65 %\n"));
}

}  // namespace
}  // namespace eckart::reports
