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
           "--json"});
  ASSERT_EQ(result.code, 0) << result.err;
  std::set<int> cores;
  std::ifstream log(at("scaling.jsonl"));
  for (std::string line; std::getline(log, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json["kind"] == "run") cores.insert(int(json["cores"]));
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

}  // namespace
}  // namespace eckart::test
