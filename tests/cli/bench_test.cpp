// Tests short experiments of eckart bench, from command line to output.
#include <signal.h>

#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "machine/usable_cores.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/support/sanitized.hpp"

namespace eckart::test {
namespace {

class BenchCommandTest : public CliTest {};

TEST_F(BenchCommandTest, measures_each_number_of_cores_and_leaves_only_its_log) {
  for (int i = 0; i < 4; ++i) write_png("in/" + std::to_string(i) + ".png");
  const std::string all = std::to_string(machine::usable_cores());
  const ProcessResult result =
      run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1", "--max-seconds", "0",
           "--cores", machine::usable_cores() > 1 ? "1," + all : all, "--set", "backend=cpu",
           "--set", "output.format=pnm", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::set<int> cores;
  std::ifstream log(at("scaling.jsonl"));
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json["kind"] == "run") {
      cores.insert(int(json["cores"]));
      EXPECT_EQ(json["settings"]["output.format"], "pnm");
    }
    const bool is_total = json["kind"] == "total";
    EXPECT_TRUE(!is_total || json["done"] > 0);
  }
  EXPECT_EQ(cores, (std::set<int>{1, machine::usable_cores()}));
  EXPECT_EQ(nlohmann::json::parse(result.out)["cores"], machine::usable_cores());
  EXPECT_THAT(result.err, HasSubstr("warming up"));
  EXPECT_THAT(files("scratch"), IsEmpty());
}

TEST_F(BenchCommandTest, repeats_until_the_time_is_over_and_says_what_is_missing) {
  write_png("in/a.png");
  const ProcessResult none = run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1",
                                  "--max-seconds", "0", "--cores", "1", "--set", "backend=cpu"});
  EXPECT_EQ(none.code, 0) << none.err;
  EXPECT_THAT(line_containing(none.err, "round 1: "),
              AllOf(HasSubstr("at least 3 rounds"), HasSubstr("stops")));
  EXPECT_THAT(none.err,
              AllOf(HasSubstr("\nrates: not known within 5.0 %: 1 core: only one comparable run."),
                    HasSubstr("--max-seconds"), HasSubstr("\nserial fraction: not known")));

  const ProcessResult more =
      run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1", "--repeats", "2",
           "--max-seconds", "8", "--cores", "1", "--set", "backend=cpu", "--log", "more.jsonl"});
  EXPECT_EQ(more.code, 0) << more.err;
  EXPECT_THAT(line_containing(more.err, "round 1: "), HasSubstr("goes on"));
  EXPECT_THAT(more.err, HasSubstr("(round 2)"));
}

TEST_F(BenchCommandTest, writes_its_log_to_any_file_name) {
  write_png("in/a.png");
  const std::string log = "a \"log\": \\x # it's.jsonl";
  const ProcessResult result =
      run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1", "--max-seconds", "0",
           "--cores", "1", "--set", "backend=cpu", "--log", log});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(run({"plan", log}).code, 0);
}

TEST_F(BenchCommandTest, reports_a_failed_file_once_by_its_original_path) {
  write_png("in/a.png");
  write("in/bad one.png", std::string("no image"));
  const ProcessResult result = run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1",
                                    "--max-seconds", "0", "--cores", "1", "--set", "backend=cpu"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_occurrences(result.err, at("in/bad one.png").string() + ": "), 1) << result.err;
  EXPECT_THAT(result.err, Not(HasSubstr("scratch")));
}

TEST_F(BenchCommandTest, reports_errors_before_measuring) {
  fs::create_directories(at("empty"));
  write_png("in/a.png");
  EXPECT_EQ(run({"bench", "scaling", "empty"}).code, 65);
  EXPECT_EQ(run({"bench", "scaling"}).code, 64);
  EXPECT_EQ(run({"bench", "nothing", "in"}).code, 64);
  const ProcessResult many = run({"bench", "scaling", "in", "--cores", "4096"});
  EXPECT_EQ(many.code, 64);
  EXPECT_THAT(many.err, HasSubstr("--cores 4096 exceeds the "));
  EXPECT_FALSE(fs::exists(at("scaling.jsonl"))) << "nothing was measured";
  EXPECT_EQ(run({"bench", "scaling", "in", "--set", "rank=none"}).code, 78);
  const ProcessResult missing = run({"bench", "scaling", "nowhere"});
  EXPECT_EQ(missing.code, 66);
  EXPECT_THAT(missing.err, HasSubstr("nowhere: "));
  const ProcessResult unwritable = run({"bench", "scaling", "in", "--log", "no/such/folder/log"});
  EXPECT_EQ(unwritable.code, 73);
  EXPECT_THAT(unwritable.err, HasSubstr("folder/log: No such file or directory"));
  const auto image = fs::file_size(at("in/a.png"));
  EXPECT_EQ(run({"bench", "scaling", "in", "--log", "in/a.png"}).code, 64);
  EXPECT_EQ(fs::file_size(at("in/a.png")), image);
}

TEST_F(BenchCommandTest, warms_up_with_a_part_of_many_inputs) {
  for (int i = 0; i < 70; ++i) write_png("in/" + std::to_string(i) + ".png");
  const ProcessResult result = run({"bench", "scaling", "in", "-o", "scratch", "--seconds", "0.1",
                                    "--max-seconds", "0", "--repeats", "1", "--cores", "1"});
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr(" 64 images in"), Not(HasSubstr(" 70 images in"))));
}

TEST_F(BenchCommandTest, measures_stages_whole_runs_and_the_file_system) {
  for (int i = 0; i < 16; ++i) write_png("in/" + std::to_string(i) + ".png");
  write("in/bad one.png", std::string("no image"));
  const ProcessResult result = run({"bench", "pipeline", "in", "-o", "scratch", "--seconds", "0.1",
                                    "--repeats", "1", "--cores", "1", "--set", "backend=cpu",
                                    "--set", "output.format=pnm", "--rank", "2,3", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  std::vector<std::string> rows;
  for (const auto& row : json["stages"]) {
    rows.push_back(row["name"]);
    EXPECT_GT(row["images_per_s"]["median"], 0) << row;
  }
  EXPECT_THAT(rows, ElementsAre("source", "load", "read", "decode", "batch", "compute", "write",
                                "write", "encode", "publish", "ledger", "publish", "ledger"));
  ASSERT_EQ(json["whole"].size(), 2u);
  for (const auto& whole : json["whole"]) {
    EXPECT_GT(whole["images_per_s"]["median"], 0);
    EXPECT_GT(whole["ratio_to_slowest_stage"], 0);
    EXPECT_GT(whole["ratio_to_file_system"], 0);
  }
  EXPECT_EQ(json["whole"][0]["durability"], "group");
  EXPECT_EQ(json["outputs_per_image"], 2);
  EXPECT_EQ(json["settings"]["rank"], R"("2,3")");
  EXPECT_EQ(run({"run", "in", "-o", "once", "--rank", "2", "--format", "pnm"}).code, 3);
  const Names once = files("once");
  ASSERT_THAT(once, testing::SizeIs(16));
  EXPECT_EQ(json["output_bytes_per_image"], 2 * fs::file_size(at("once/" + once.front())))
      << "the whole runs have these settings, too";
  EXPECT_THAT(result.err, AllOf(HasSubstr("round 1 of 1: file system"), HasSubstr("\nlimit: ")));
  EXPECT_EQ(count_occurrences(result.err, at("in/bad one.png").string() + ": "), 1) << result.err;
  EXPECT_THAT(files("scratch"), IsEmpty());
}

TEST_F(BenchCommandTest, removes_its_files_when_it_is_stopped) {
  write_png("in/a.png");
  EckartProcess bench(
      {"bench", "pipeline", "in", "-o", "scratch", "--seconds", "3", "--set", "backend=cpu"},
      {.folder = at(".")});
  wait_for([&] { return bench.err().find("warm-up: ") != std::string::npos; });
  bench.signal(SIGINT);
  const ProcessResult result = bench.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("interrupted after 0 of 3 rounds\n"));
  EXPECT_THAT(files("scratch"), IsEmpty());
}

TEST_F(BenchCommandTest, prints_the_rounds_that_were_complete_when_it_is_stopped) {
  write_png("in/a.png");
  EckartProcess bench({"bench", "pipeline", "in", "-o", "scratch", "--seconds", "0.1", "--repeats",
                       "100", "--set", "backend=cpu"},
                      {.folder = at(".")});
  wait_for([&] { return bench.err().find("round 2 of 100") != std::string::npos; });
  bench.signal(SIGINT);
  const ProcessResult result = bench.wait();
  EXPECT_EQ(result.code, 130);
  EXPECT_THAT(result.out, AllOf(HasSubstr("each stage alone"), HasSubstr("\nlimit: ")));
  EXPECT_THAT(result.err, HasSubstr(" of 100 rounds\n"));
}

TEST_F(BenchCommandTest, measures_operations_without_inputs) {
  const ProcessResult result = run({"bench", "transfer", "--quick", "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  const auto json = nlohmann::json::parse(result.out);
  EXPECT_EQ(json["kind"], "bench");
  EXPECT_EQ(json["cores"], machine::usable_cores());
  EXPECT_FALSE(json["tables"][0]["rows"].empty());
  EXPECT_THAT(result.err, HasSubstr("1 of "));
}

TEST_F(BenchCommandTest, takes_only_options_of_the_experiment) {
  const auto error = [&](const std::vector<std::string>& arguments) {
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 64) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"bench", "kernels", "in"}), HasSubstr("kernels takes no INPUT"));
  EXPECT_THAT(error({"bench", "kernels", "matmul"}), HasSubstr("one experiment at a time"));
  EXPECT_THAT(error({"bench", "kernels", "matmul", "in"}), HasSubstr("one experiment at a time"));
  EXPECT_THAT(error({"bench", "kernels", "--rank", "3"}),
              HasSubstr("--rank is only for these experiments: pipeline, scaling"));
  EXPECT_THAT(error({"bench", "scaling", "in", "--quick"}),
              HasSubstr("--quick is only for these experiments: kernels, matmul"));
  EXPECT_THAT(error({"bench", "all", "in"}), HasSubstr("all takes no INPUT"));
  EXPECT_THAT(error({"bench", "pipeline"}), HasSubstr("pipeline needs INPUT"));
  EXPECT_THAT(error({"bench", "matmul", "--json", "--html"}), HasSubstr("--html"));
}

TEST_F(BenchCommandTest, refuses_what_the_pipeline_experiment_cannot_measure) {
  write_png("in/a.png");
  const auto error = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"bench", "pipeline", "in"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, 64) << result.err;
    return result.err;
  };
  EXPECT_THAT(error({"--log", "log"}), HasSubstr("--log is only for these experiments: scaling"));
  EXPECT_THAT(error({"--cores", "1,2"}), HasSubstr("one number of cores"));
  EXPECT_THAT(error({"--cores", "4096"}), HasSubstr("--cores 4096 exceeds the "));
  EXPECT_THAT(error({"--set", "output.format=none"}), HasSubstr("output.format is none"));
}

TEST_F(BenchCommandTest, ends_with_70_when_a_run_is_killed) {
  write_png("in/a.png");
  const ProcessResult result =
      run({"bench", "scaling", "in", "-o", "scratch", "--cores", "1"}, {.fault = "rename:0:1:1"});
  EXPECT_EQ(result.code, 70) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the measured run failed with 137"));
}

TEST_F(BenchCommandTest, waits_longer_for_a_run_than_its_shutdown_limit) {
  if (kHasThreadSanitizer) GTEST_SKIP() << "it delays signals until read() returns";
  write_png("in/a.png");
  EckartProcess bench({"bench", "scaling", "in", "-o", "scratch", "--cores", "1", "--set",
                       "timeouts.shutdown_s=600"},
                      {.folder = at("."),
                       .fault = "rename:-2:1:1",
                       .environment = {{"ECKART_FAULT_REACHED", at("reached")}}});
  wait_for([&] { return fs::exists(at("reached")); });
  bench.signal(SIGTERM);
  wait_for([&] { return bench.err().find("forced exit in 650 s") != std::string::npos; });
}

TEST_F(BenchCommandTest, says_why_python_does_not_run) {
  write("bin/python3", "#!/bin/sh\necho no Python here >&2\n");
  fs::permissions(at("bin/python3"), fs::perms::owner_all);
  EckartProcess::Options options;
  options.environment = {{"PATH", at("bin").string() + ":/usr/bin:/bin"}};
  const ProcessResult result = run({"bench", "bandwidth", "--quick", "--peers"}, options);
  EXPECT_EQ(result.code, int(ExitCode::unavailable));
  EXPECT_THAT(
      result.err,
      HasSubstr(
          "--peers: python3 of the PATH with NumPy is needed: python3 ended: no Python here"));
}

}  // namespace
}  // namespace eckart::test
