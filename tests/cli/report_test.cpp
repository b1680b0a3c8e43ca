// Tests that no line of a report is lost if a run is repeated, stopped or has other inputs.
#include <signal.h>
#include <sys/stat.h>

#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

using ::testing::ElementsAre;
using ::testing::Key;
using ::testing::UnorderedElementsAre;
using Json = nlohmann::json;

class ReportTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
  }
  ProcessResult report(const std::vector<std::string>& more = {}, const std::string& input = "in",
                       const std::string& output = "out") {
    std::vector<std::string> arguments{"run", input, "-o", output, "-k", "2", "--report", "r"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::string text(const fs::path& file = "r") {
    const auto bytes = io::read_file(at(file), 1);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// Returns the lines by output, or by file if the input failed. No key is duplicate.
  std::map<std::string, Json> lines() {
    std::map<std::string, Json> lines;
    std::istringstream stream(text());
    for (std::string line; std::getline(stream, line);) {
      const Json json = Json::parse(line);
      const std::string key = json.contains("output") ? below_folder(json.at("output"))
                                                      : json.at("input").get<std::string>();
      EXPECT_TRUE(lines.emplace(key, json).second) << key << " twice";
    }
    return lines;
  }
  /// Without what differs between two runs that make the same output.
  static Json without_result_and_times(Json json) {
    for (const char* key : {"result", "load_ms", "wait_ms", "compute_ms", "write_ms"})
      json.erase(key);
    return json;
  }
};

/// The relative paths of both runs are equal.
TEST_F(ReportTest, keeps_lines_of_runs_in_another_folder) {
  for (const std::string folder : {"p1", "p2"}) {
    write_png(fs::path(folder) / "in/a.png");
    const ProcessResult result = run(
        {"-c", "cd " + folder +
                   " && exec " ECKART_PROGRAM " run in -o out -k 2 --backend cpu --report ../r"},
        {.program = "/bin/sh"});
    ASSERT_EQ(result.code, 0) << result.err;
  }
  EXPECT_THAT(lines(), ElementsAre(Key("p1/out/a.png"), Key("p2/out/a.png")));
  ASSERT_EQ(report({}, "p1/in", "p1/out").code, 0);
  EXPECT_THAT(lines(), ElementsAre(Key("p1/out/a.png"), Key("p2/out/a.png"))) << "no line twice";
}

/// They recorded a relative output, without the folder from which.
TEST_F(ReportTest, replaces_lines_of_earlier_versions_with_the_same_input) {
  const std::string end = R"(","output":"out/a.png","result":"done"})";
  write("r", R"({"kind":"output","schema":"eckart.report/1","input":")" + at("in/a.png").native() +
                 end + "\n" +
                 R"({"kind":"output","schema":"eckart.report/1","input":"/elsewhere/in/a.png)" +
                 end + "\n");
  ASSERT_EQ(report({}, "in/a.png").code, 0);
  std::istringstream stream(text());
  std::vector<std::string> inputs;
  for (std::string line; std::getline(stream, line);)
    inputs.push_back(Json::parse(line).at("input"));
  EXPECT_THAT(inputs, UnorderedElementsAre(at("in/a.png").native(), "/elsewhere/in/a.png"));
}

TEST_F(ReportTest, is_written_to_a_pipe_by_its_path) {
  for (const char* path : {"/dev/stdout", "/dev/fd/1", "-"}) {
    const ProcessResult result =
        run({"-c", ECKART_PROGRAM " run in -o out -k 2 --backend cpu -q --report " +
                       std::string(path) + " | wc -l"},
            {.program = "/bin/sh"});
    EXPECT_EQ(result.out, "3\n") << path << result.err;
  }
}

TEST_F(ReportTest, is_no_other_file_of_the_same_run) {
  const auto refusal = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", "2"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const ProcessResult result = run(arguments);
    EXPECT_EQ(result.code, int(ExitCode::usage)) << result.err;
    EXPECT_FALSE(fs::exists(at("out")));
    return result.err;
  };
  fs::create_directory(at("d"));
  fs::create_directory_symlink("d", at("link"));
  const std::string log = "telemetry.throughput_log=";
  EXPECT_THAT(refusal({"--report", "d/r", "--trace", "link/r"}),
              HasSubstr("--report and --trace name the same file"));
  EXPECT_THAT(refusal({"--report", "r", "--trace", "r.part"}), HasSubstr("--report and --trace"));
  EXPECT_THAT(refusal({"--report", "-", "--trace", "/dev/stdout"}),
              HasSubstr("--report and --trace"));
  EXPECT_THAT(refusal({"--trace", "t", "--set", log + "t"}),
              HasSubstr("--trace and telemetry.throughput_log"));
  EXPECT_THAT(refusal({"--report", "r", "--set", log + "r.part"}),
              HasSubstr("--report and telemetry.throughput_log"));
}

TEST_F(ReportTest, includes_results_of_earlier_runs) {
  ASSERT_EQ(report().code, 0);
  const auto first = lines();
  ASSERT_EQ(first.size(), 3u);
  EXPECT_EQ(first.at("out/a.png").at("result"), "done");
  fs::remove(at("out/b.png"));
  ASSERT_EQ(report().code, 0);
  const auto second = lines();
  ASSERT_EQ(second.size(), 3u);
  EXPECT_EQ(second.at("out/a.png").at("result"), "skipped");
  EXPECT_EQ(second.at("out/b.png").at("result"), "done");
  for (const auto& [output, line] : first)
    EXPECT_EQ(without_result_and_times(line), without_result_and_times(second.at(output)))
        << output;
  EXPECT_EQ(second.at("out/a.png").at("compute_ms"), first.at("out/a.png").at("compute_ms"));
  fs::remove(at("r"));
  ASSERT_EQ(report().code, 0);
  EXPECT_EQ(lines().size(), 3u) << "though there is no report to go by";
  EXPECT_FALSE(fs::exists(at("r.part")));
}

/// After a stop, the report has the new lines and the earlier ones.
TEST_F(ReportTest, keeps_earlier_lines_when_a_run_is_stopped) {
  ASSERT_EQ(report().code, 0);
  fs::remove_all(at("out/.eckart"));
  ASSERT_EQ(::mkfifo(at("list").c_str(), 0600), 0);
  EckartProcess second({"run", "--files-from", "list", "-o", "other", "-k", "2", "--report", "r"},
                       {.folder = at(".")});
  {
    std::ofstream list(at("list"));
    list << "in/a.png\n" << std::flush;
    wait_for([&] { return fs::exists(at("other/in/a.png")); });
    wait_for([&] { return fs::exists(at("r.part")) && fs::file_size(at("r.part")) > 0; });
    EXPECT_EQ(lines().size(), 3u) << "while it runs";
    second.signal(SIGINT);
    EXPECT_EQ(second.wait().code, 130);
  }
  EXPECT_EQ(lines().size(), 4u);
  EXPECT_TRUE(lines().contains("other/in/a.png"));
}

TEST_F(ReportTest, keeps_lines_of_other_outputs) {
  ASSERT_EQ(report().code, 0);
  fs::remove(at("out/b.png"));
  ASSERT_EQ(report({}, "in/a.png").code, 0);
  EXPECT_EQ(lines().size(), 3u) << "of one that is gone, too";
  EXPECT_TRUE(lines().contains("out/deep/c.png"));
}

TEST_F(ReportTest, keeps_the_lines_that_were_written_from_another_folder) {
  write_png("elsewhere/in/d.png");
  ASSERT_EQ(report().code, 0);
  const auto first = lines();
  const ProcessResult second = run({"-c", "cd elsewhere && exec " ECKART_PROGRAM
                                          " run in -o out -k 2 --backend cpu --report ../r"},
                                   {.program = "/bin/sh"});
  ASSERT_EQ(second.code, 0) << second.err;
  EXPECT_EQ(lines().size(), 4u);
  for (const auto& [output, line] : first) EXPECT_EQ(lines().at(output), line);
  EXPECT_TRUE(lines().contains("elsewhere/out/d.png"));
}

/// Both names are written as the same text.
TEST_F(ReportTest, keeps_the_lines_of_names_that_are_not_utf8) {
  write_png("odd/\xff.png");
  write_png("odd/\xfe.png");
  ASSERT_EQ(report({}, "odd").code, 0);
  EXPECT_EQ(count_occurrences(text(), "\n"), 2);
  ASSERT_EQ(report().code, 0);
  EXPECT_EQ(count_occurrences(text(), "\n"), 5);
  ASSERT_EQ(report({}, "odd").code, 0);
  EXPECT_EQ(count_occurrences(text(), "\n"), 5) << "each once";
  EXPECT_EQ(count_occurrences(text(), "skipped"), 2);
}

TEST_F(ReportTest, is_written_by_one_run_at_a_time) {
  ASSERT_EQ(::mkfifo(at("list").c_str(), 0600), 0);
  EckartProcess first({"run", "--files-from", "list", "-o", "other", "-k", "2", "--report", "r"},
                      {.folder = at(".")});
  {
    std::ofstream list(at("list"));
    list << "in/a.png\n" << std::flush;
    wait_for([&] { return fs::exists(at("r.part")) && fs::file_size(at("r.part")) > 0; });
    const ProcessResult second = report();
    EXPECT_EQ(second.code, int(ExitCode::temporary));
    EXPECT_THAT(second.err, HasSubstr("report r: another run is writing this report"));
    list << "in/b.png\n";
  }
  EXPECT_EQ(first.wait().code, 0);
  EXPECT_EQ(lines().size(), 2u);
  EXPECT_EQ(report().code, 0);
  EXPECT_EQ(lines().size(), 5u);
}

TEST_F(ReportTest, shares_stdout_with_other_output) {
  fs::create_symlink("/dev/stdout", at("link"));
  for (const char* file : {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "same", "link"}) {
    fs::remove_all(at("out"));
    const ProcessResult result = run({"-c", "exec > same; echo before; exec " ECKART_PROGRAM
                                            " run in -o out -k 2 --backend cpu --json --report " +
                                                std::string(file)},
                                     {.program = "/bin/sh"});
    const std::string text = this->text("same");
    EXPECT_EQ(text.substr(0, 7), "before\n") << file;
    EXPECT_EQ(count_occurrences(text, "\n"), 5) << file << ": " << result.err << text;
    EXPECT_EQ(count_occurrences(text, "{\"kind\":\"output\","), 3) << file;
    EXPECT_EQ(count_occurrences(text, "{\"kind\":\"summary\",\"done\":3"), 1) << file;
  }
}

TEST_F(ReportTest, drops_failure_once_the_input_succeeds) {
  write("in/a.png", "no image");
  EXPECT_EQ(report().code, 3);
  EXPECT_EQ(lines().at(at("in/a.png")).at("result"), "failed");
  write_png("in/a.png");
  EXPECT_EQ(report().code, 0);
  EXPECT_EQ(lines().size(), 3u);
  EXPECT_FALSE(lines().contains(at("in/a.png")));
}

TEST_F(ReportTest, reports_unknown_figures_of_older_versions_as_null) {
  if (!fs::exists("/usr/bin/sqlite3")) GTEST_SKIP() << "there is no sqlite3 to change a ledger by";
  ASSERT_EQ(report().code, 0);
  run({"out/.eckart/ledger.db", "UPDATE output SET report = NULL, report_keys = NULL"},
      {.program = "/usr/bin/sqlite3"});
  ASSERT_EQ(report().code, 0);
  EXPECT_TRUE(lines().at("out/a.png").at("psnr_db").is_null());
  EXPECT_TRUE(lines().at("out/a.png").at("rank").is_null());
}

/// These have no `kind`, `file` instead of `input`, and `failed` instead of `reason`.
TEST_F(ReportTest, replaces_lines_of_older_versions) {
  write("r",
        "{\"file\":\"in/a.png\",\"result\":\"failed\",\"failed\":\"corrupt\",\"stage\":\"load\"}\n"
        "{\"file\":\"in/b.png\",\"output\":\"out/b.png\",\"rank\":7}\n"
        "{\"file\":\"gone.png\",\"failed\":\"corrupt\",\"stage\":\"load\"}\n");
  ASSERT_EQ(report().code, 0);
  EXPECT_EQ(count_occurrences(text(), "{\"kind\":\"output\","), 3);
  EXPECT_EQ(count_occurrences(text(), "{\"file\":\"gone.png\","), 1) << "not of this run";
  EXPECT_EQ(count_occurrences(text(), "\n"), 4) << text();
}

TEST_F(ReportTest, follows_symlink) {
  write("real", "");
  fs::create_symlink("real", at("r"));
  ASSERT_EQ(report().code, 0);
  EXPECT_TRUE(fs::is_symlink(at("r")));
  EXPECT_EQ(count_occurrences(text("real"), "\n"), 3);
}

TEST_F(ReportTest, does_not_overwrite_foreign_file) {
  write("r", "precious");
  const ProcessResult result = report();
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err, HasSubstr("is not a report; choose another name"));
  EXPECT_EQ(text(), "precious");
  fs::remove(at("r"));
  write("r.part", "precious, too");
  EXPECT_EQ(report().code, int(ExitCode::usage));
  EXPECT_EQ(text("r.part"), "precious, too");
  write("r.part", "{\"fi");  // left by a killed run
  EXPECT_EQ(report().code, 0);
  EXPECT_EQ(lines().size(), 3u);
}

}  // namespace
}  // namespace eckart::test
