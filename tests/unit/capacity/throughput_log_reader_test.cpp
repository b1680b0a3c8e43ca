#include "capacity/throughput_log_reader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "core/error.hpp"

namespace eckart::capacity {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kSchema = R"("schema":"eckart.throughput/1")";

std::string head(const std::string& id, const std::string& more = "") {
  return std::string(R"({"kind":"run",)") + kSchema + R"(,"run":")" + id +
         R"(","time":"2026-11-22T10:00:00Z","cores":4,"startup_s":null,"driver":null,"gpus":[])" +
         more + "}\n";
}
std::string line(const std::string& id, const std::string& kind, double elapsed_s, int done,
                 const std::string& more = "") {
  std::ostringstream text;
  text << R"({"kind":")" << kind << R"(",)" << kSchema << R"(,"run":")" << id << R"(","elapsed_s":)"
       << elapsed_s << R"(,"interval_s":1,"done":)" << done
       << R"(,"process":{"cpu_s":0.5},"gpus":null)" << more << "}\n";
  return text.str();
}

struct ReadResult {
  std::vector<LoggedRun> runs = {};
  std::vector<std::string> warnings = {};
  std::string error = {};
};
ReadResult read(const std::vector<std::string>& files) {
  ThroughputLogReader reader;
  for (std::size_t i = 0; i < files.size(); ++i) {
    std::istringstream lines(files[i]);
    reader.read(lines, "file" + std::to_string(i + 1));
  }
  ReadResult reading;
  try {
    reading.runs = reader.runs();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::nothing_readable);
    reading.error = error.what();
  }
  reading.warnings = reader.warnings();
  return reading;
}

TEST(ThroughputLogReader, reads_interleaved_runs) {
  const ReadResult reading =
      read({head("a") + line("a", "interval", 1, 10) + head("b") + line("b", "interval", 1, 7) +
            line("a", "interval", 2, 11) + line("a", "total", 2, 21)});
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_EQ(reading.runs.size(), 2U);
  EXPECT_EQ(reading.runs[0].intervals.size(), 2U);
  EXPECT_EQ(reading.runs[0].whole().done, 21);
}

TEST(ThroughputLogReader, reads_every_field) {
  const std::string run = std::string("{") + kSchema + R"(,"kind":"run","run":"a","time":"T",
      "command":"watch","host":"H","cpu":"C","backend":"B","device":"D","cores":6,"startup_s":1.5,
      "gpus":[{"name":"G1"},{}],"settings":{"rank":"20","batch.pad":8,"x":[1,2]}})";
  const std::string total = std::string("{") + kSchema + R"(,"kind":"total","run":"a",
      "elapsed_s":20,"interval_s":4,"done":3,"failed":5,"skipped":7,"unfinished":11,"pixels":13,
      "input_bytes":17,"output_bytes":19,"process":{"cpu_s":2.5},
      "end_to_end_s":{"mean":0.25,"count":8},
      "stages":[{"name":"write","workers":2,"busy_s":1,"cpu_s":0.5,"images":23,
                 "waiting_for_input_s":3,"blocked_s":7}],
      "gpus":[{"busy":0.75,"energy_j":29},{"busy":null,"energy_j":null}]})";
  const auto one_line = [](std::string text) {
    std::erase(text, '\n');
    return text + "\n";
  };
  const ReadResult reading = read({one_line(run) + one_line(total)});
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_EQ(reading.runs.size(), 1U);
  const LoggedRun& a = reading.runs[0];
  EXPECT_EQ(a.id + a.time + a.command + a.host + a.cpu + a.backend + a.device, "aTwatchHCBD");
  EXPECT_TRUE(a.is_service());
  EXPECT_EQ(a.cores, 6);
  EXPECT_EQ(a.startup_s, 1.5);
  EXPECT_THAT(a.gpus, ElementsAre("G1", "GPU"));
  EXPECT_EQ(a.settings, (std::map<std::string, std::string>{
                            {"rank", "20"}, {"batch.pad", "8"}, {"x", "[1,2]"}}));
  ASSERT_TRUE(a.total);
  const ThroughputSample& sample = *a.total;
  EXPECT_EQ(sample.elapsed_s, 20);
  EXPECT_EQ(sample.interval_s, 4);
  EXPECT_EQ(sample.done, 3);
  EXPECT_EQ(sample.failed, 5);
  EXPECT_EQ(sample.images(), 8);
  EXPECT_EQ(sample.skipped, 7);
  EXPECT_EQ(sample.unfinished, 11);
  EXPECT_EQ(sample.pixels, 13);
  EXPECT_EQ(sample.input_bytes, 17);
  EXPECT_EQ(sample.output_bytes, 19);
  EXPECT_EQ(sample.cpu_s, 2.5);
  EXPECT_EQ(sample.in_system_count, 8);
  EXPECT_EQ(sample.in_system_s, 2);
  ASSERT_EQ(sample.stages.size(), 1U);
  EXPECT_EQ(sample.stages[0].stage, Stage::write);
  EXPECT_EQ(sample.stages[0].workers, 2);
  EXPECT_EQ(sample.stages[0].busy_s, 1);
  EXPECT_EQ(sample.stages[0].cpu_s, 0.5);
  EXPECT_EQ(sample.stages[0].images, 23);
  EXPECT_EQ(sample.stages[0].thread_s, 11);
  ASSERT_EQ(sample.gpus.size(), 2U);
  EXPECT_EQ(sample.gpus[0].busy_s, 3);
  EXPECT_EQ(sample.gpus[0].observed_s, 4);
  EXPECT_EQ(sample.gpus[0].energy_j, 29);
  EXPECT_EQ(sample.gpus[1].observed_s, 0);
  EXPECT_EQ(sample.gpus[1].energy_j, std::nullopt);
}

TEST(ThroughputLogReader, orders_runs_by_time_and_requires_work_after_the_start) {
  const auto at = [](const std::string& id, const std::string& time, double startup_s) {
    std::ostringstream text;
    text << "{" << kSchema << R"(,"kind":"run","run":")" << id << R"(","time":")" << time
         << R"(","cores":1,"startup_s":)" << startup_s << "}\n"
         << line(id, "total", 1, 5);
    return text.str();
  };
  const ReadResult reading = read({at("c", "2026-11-22T12", 0.5) + at("a", "2026-11-22T13", 0.5) +
                                   at("b", "2026-11-22T11", 0.5) + at("d", "2026-11-22T10", 1)});
  std::string order;
  for (const LoggedRun& run : reading.runs) order += run.id;
  EXPECT_EQ(order, "bca");
  EXPECT_THAT(reading.warnings, ElementsAre("run d ignored: it processed no images"));
}

TEST(ThroughputLogReader, stops_to_warn_after_20_lines) {
  std::string text = head("a") + line("a", "total", 1, 5);
  for (int i = 0; i < 25; ++i) text += "nonsense\n";
  const ReadResult reading = read({text + "\n \t\n"});
  ASSERT_EQ(reading.warnings.size(), 21U);
  EXPECT_EQ(reading.warnings[19], "file1:22: line ignored: it is not JSON");
  EXPECT_EQ(reading.warnings[20], "more lines were ignored; these warnings stop here");
}

TEST(ThroughputLogReader, names_the_missing_key_and_accepts_each_largest_value) {
  const auto warning = [](const std::string& text) {
    const ReadResult reading = read({head("a") + line("a", "total", 1, 5) + text});
    return reading.warnings.empty() ? "" : reading.warnings.front();
  };
  const std::string run = std::string("{") + kSchema + R"(,"kind":"run","run":"b")";
  EXPECT_EQ(warning(run + "}\n"), "file1:3: line ignored: it has no key 'cores'");
  EXPECT_EQ(warning(std::string("{") + kSchema + "}\n"),
            "file1:3: line ignored: it has no key 'kind'");
  EXPECT_EQ(warning(std::string("{") + kSchema + R"(,"kind":"interval","run":"a"})" + "\n"),
            "file1:3: line ignored: it has no key 'elapsed_s'");
  const std::pair<const char*, bool> values[] = {
      {R"(,"pixels":1e15)", true},
      {R"(,"pixels":1.1e15)", false},
      {R"(,"gpus":[{"busy":1}])", true},
      {R"(,"gpus":[{"busy":1.01}])", false},
      {R"(,"gpus":[{"energy_j":-1}])", false},
      {R"(,"stages":[{"name":"load","workers":65536}])", true},
      {R"(,"stages":[{"name":"load","workers":65537}])", false},
      {R"(,"stages":[{"name":"load","workers":1,"cpu_s":1e10}])", true},
      {R"(,"stages":[{"name":"load","workers":1,"cpu_s":2e10}])", false}};
  for (const auto& [more, is_accepted] : values)
    EXPECT_EQ(warning(line("a", "interval", 2, 5, more)).empty(), is_accepted) << more;
  std::string gpus = run + R"(,"cores":8192,"gpus":[{})";
  for (int i = 1; i < 1024; ++i) gpus += ",{}";
  EXPECT_EQ(warning(gpus + "]}\n" + line("b", "total", 1, 5)), "");
  EXPECT_EQ(warning(gpus + ",{}]}\n"), "file1:3: line ignored: it has too many GPUs: 1025");
}

TEST(ThroughputLogReader, sums_a_killed_run_with_a_truncated_last_line) {
  const std::string cut = line("a", "interval", 3, 99);
  const ReadResult reading = read({head("a") + line("a", "interval", 1, 10) +
                                   line("a", "interval", 2, 11) + cut.substr(0, cut.size() / 2)});
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_EQ(reading.runs.size(), 1U);
  const ThroughputSample whole = reading.runs[0].whole();
  EXPECT_EQ(whole.done, 21);
  EXPECT_EQ(whole.interval_s, 2);
  EXPECT_EQ(whole.cpu_s, 1);
}

TEST(ThroughputLogReader, adds_up_the_time_of_threads) {
  const std::string stage =
      R"(,"stages":[{"name":"load","workers":3,"busy_s":1,"waiting_for_input_s":0.5,"blocked_s":0.25}])";
  const ReadResult reading =
      read({head("a") + line("a", "interval", 1, 10, stage) + line("a", "interval", 2, 10, stage)});
  ASSERT_EQ(reading.runs.size(), 1U);
  const ThroughputSample whole = reading.runs[0].whole();
  ASSERT_EQ(whole.stages.size(), 1U);
  EXPECT_DOUBLE_EQ(whole.stages[0].thread_s, 3.5);
}

TEST(ThroughputLogReader, continues_after_a_truncated_line) {
  const std::string cut = line("a", "interval", 2, 99);
  const ReadResult reading =
      read({head("a") + line("a", "interval", 1, 10) + cut.substr(0, cut.size() / 2) + head("b") +
            line("b", "interval", 1, 7)});
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_EQ(reading.runs.size(), 2U);
  EXPECT_EQ(reading.runs[0].whole().done + reading.runs[1].whole().done, 17);
}

/// Lines of older versions begin with the schema.
TEST(ThroughputLogReader, reads_lines_of_older_versions_after_a_truncated_line) {
  const auto older = [](const std::string& line) {
    return "{" + std::string(kSchema) + ',' + line.substr(1, line.find(',') - 1) +
           line.substr(line.find(',') + 1 + std::string(kSchema).size());
  };
  ASSERT_EQ(older(head("a")).find(R"({"schema":"eckart.throughput/1","kind":"run","run":"a")"), 0U);
  const std::string cut = older(line("a", "interval", 2, 99));
  const ReadResult reading =
      read({older(head("a")) + older(line("a", "interval", 1, 10)) + cut.substr(0, cut.size() / 2) +
            older(head("b")) + older(line("b", "interval", 1, 7)) + cut.substr(0, cut.size() / 2) +
            head("c") + line("c", "interval", 1, 3)});
  EXPECT_THAT(reading.warnings, IsEmpty());
  ASSERT_EQ(reading.runs.size(), 3U);
  EXPECT_EQ(
      reading.runs[0].whole().done + reading.runs[1].whole().done + reading.runs[2].whole().done,
      20);
}

TEST(ThroughputLogReader, merges_rotated_files_in_any_order) {
  const std::string first = head("a") + line("a", "interval", 1, 1),
                    second = head("a") + line("a", "interval", 2, 2);
  const ReadResult reading = read({second, first, second});
  ASSERT_EQ(reading.runs.size(), 1U);
  ASSERT_EQ(reading.runs[0].intervals.size(), 2U);
  EXPECT_EQ(reading.runs[0].intervals[0].done, 1);
  EXPECT_EQ(reading.runs[0].whole().done, 3);
}

TEST(ThroughputLogReader, reports_invalid_lines_and_reads_the_rest) {
  const ReadResult reading =
      read({head("a") + "nonsense\n" + line("a", "interval", 1, 10) + "[1]\n{}\n" +
            line("a", "interval", 2, 5, R"(,"stages":[{"name":3}])") +
            line("a", "interval", 2, 5, R"(,"stages":[{"name":"cores","workers":1}])") +
            R"({"schema":"eckart.throughput/2","kind":"interval"})" + "\n" +
            line("a", "interval", -3, 5) + line("z", "interval", 1, 5)});
  ASSERT_EQ(reading.runs.size(), 1U);
  EXPECT_EQ(reading.runs[0].whole().done, 10);
  EXPECT_THAT(
      reading.warnings,
      ElementsAre("file1:2: line ignored: it is not JSON",
                  "file1:4: line ignored: it is not a JSON object",
                  HasSubstr("file1:5: line ignored: it is not part of a throughput log"),
                  HasSubstr("file1:6: line ignored: it has a value of the wrong type"),
                  "file1:7: line ignored: it has an unknown stage 'cores'",
                  "file1:8: line ignored: it has schema 'eckart.throughput/2', but this program "
                  "reads only 'eckart.throughput/1'",
                  "file1:9: line ignored: it has an impossible value for 'elapsed_s': -3",
                  HasSubstr("run z ignored: its first line (kind 'run') is missing")));
}

TEST(ThroughputLogReader, rejects_lines_with_impossible_numbers) {
  const auto bad_head = [](const std::string& id, const std::string& cores) {
    return std::string("{") + kSchema + R"(,"kind":"run","run":")" + id + R"(","cores":)" + cores +
           "}\n";
  };
  const auto bad_line = [](const std::string& more) { return line("a", "interval", 2, 5, more); };
  const ReadResult reading = read(
      {head("a") + line("a", "interval", 1, 10) + bad_head("b", "0") + bad_head("c", "2000000000") +
       bad_head("d", "1e300") + bad_line(R"(,"input_bytes":9e18)") + bad_line(R"(,"pixels":-1)") +
       bad_line(R"(,"end_to_end_s":{"mean":1e300,"count":1})") +
       bad_line(R"(,"stages":[{"name":"load","workers":5000000000}])") +
       bad_line(R"(,"stages":[{"name":"load","workers":1,"busy_s":-1}])") +
       bad_line(R"(,"interval_s":0)") +
       bad_line(R"(,"stages":[{"name":"load","workers":1,"busy_s":-1e-9}])")});  // a rounding error
  ASSERT_EQ(reading.runs.size(), 1U);
  EXPECT_EQ(reading.runs[0].whole().done, 15);
  EXPECT_EQ(reading.runs[0].whole().stages.at(0).busy_s, 0);
  EXPECT_THAT(
      reading.warnings,
      ElementsAre("file1:3: line ignored: it has an impossible value for 'cores': 0",
                  "file1:4: line ignored: it has an impossible value for 'cores': 2000000000",
                  "file1:5: line ignored: it has an impossible value for 'cores': 1e+300",
                  "file1:6: line ignored: it has an impossible value for 'input_bytes': 9e+18",
                  "file1:7: line ignored: it has an impossible value for 'pixels': -1",
                  "file1:8: line ignored: it has an impossible value for 'mean': 1e+300",
                  "file1:9: line ignored: it has an impossible value for 'workers': 5000000000",
                  "file1:10: line ignored: it has an impossible value for 'busy_s': -1",
                  "file1:11: line ignored: it has 5 images in an interval of 0 s"));
}

TEST(ThroughputLogReader, ignores_unknown_fields_and_kinds) {
  const ReadResult reading =
      read({head("a", R"(,"more":{"x":[1]})") + line("a", "interval", 1, 10, R"(,"new":1)") +
            std::string("{") + kSchema + R"(,"kind":"new","run":"a"})" + "\n"});
  EXPECT_THAT(reading.warnings, IsEmpty());
  EXPECT_EQ(reading.runs.at(0).whole().done, 10);
}

TEST(ThroughputLogReader, throws_with_the_cause_without_a_usable_run) {
  EXPECT_THAT(read({""}).error, HasSubstr("no usable run in file1: the file has no lines"));
  EXPECT_THAT(read({"nonsense\n"}).error, HasSubstr("file1:1: line ignored: it is not JSON"));
  EXPECT_THAT(read({head("a") + line("a", "total", 1, 0, R"(,"skipped":9)")}).error,
              HasSubstr("run a ignored: it processed no images"));
  ThroughputLogReader reader;
  try {
    reader.read(std::filesystem::path("no/such.log"));
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::no_input);
    EXPECT_THAT(error.what(), HasSubstr("cannot read the log no/such.log: No such file"));
  }
}

TEST(ThroughputLogReader, refuses_a_file_with_an_endless_line) {
  const std::string run = head("a") + line("a", "total", 10, 5);
  const std::size_t max = 1 << 20;
  EXPECT_EQ(read({std::string(max - 1, 'x') + "\n" + run}).runs.size(), 1U) << "ignored";
  for (const std::string& text : {std::string(max + 1, 'x'), run + std::string(3 * max, '[')}) {
    try {
      read({text});
      ADD_FAILURE();
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::nothing_readable);
      EXPECT_STREQ(error.what(), "file1 is not a throughput log: a line has more than 1 MiB");
    }
  }
}

}  // namespace
}  // namespace eckart::capacity
