// Tests `eckart shard` and `eckart run --shard`.
#include <nlohmann/json.hpp>

#include "io/folder_lock.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

class ShardTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png", "in/deep/d.png"})
      write_png(name);
    const ProcessResult result = run({"shard", "in", "--count", "2", "-o", "m"});
    ASSERT_EQ(result.code, 0) << result.err;
    fs::create_directory(at("tmp"));
  }
  ProcessResult run_shard(const std::string& shard, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", "--shard", "m:" + shard, "-o",
                                       "out", "-k",      "2",          "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.environment = {{"TMPDIR", at("tmp")}}});
  }
  ProcessResult run_with_rank(const std::string& rank, const std::string& shard,
                              const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", "--shard", "m:" + shard, "-o", "out", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  static nlohmann::json summary(const ProcessResult& result) {
    EXPECT_EQ(result.code, 0) << result.err;
    return nlohmann::json::parse(result.out);
  }
};

TEST_F(ShardTest, has_the_outputs_of_a_run_over_all) {
  ASSERT_EQ(run({"run", "in", "-o", "whole", "-k", "2"}).code, 0);
  EXPECT_EQ(summary(run_shard("1/2")).at("done"), 2);
  EXPECT_EQ(summary(run_shard("2/2")).at("done"), 2);
  EXPECT_EQ(files("out"), files("whole"));
  for (const std::string& name : files("whole"))
    EXPECT_EQ(io::read_file(at("out") / name, 1), io::read_file(at("whole") / name, 1)) << name;
  EXPECT_TRUE(fs::is_empty(at("tmp"))) << "its ledger was there";
}

TEST_F(ShardTest, is_done_once) {
  EXPECT_EQ(summary(run_shard("1/2")).at("done"), 2);
  const nlohmann::json again = summary(run_shard("1/2"));
  EXPECT_EQ(again.at("done"), 0);
  EXPECT_EQ(again.at("skipped"), 2);
}

/// A process that was killed has outputs that no ledger records.
TEST_F(ShardTest, keeps_equal_outputs_that_no_ledger_records) {
  EXPECT_EQ(summary(run_shard("1/2")).at("done"), 2);
  const fs::path first = at("out") / files("out").front();
  const auto time = fs::last_write_time(first);
  fs::remove_all(at("out/.eckart/shards"));
  EXPECT_EQ(summary(run_shard("1/2")).at("done"), 2);
  EXPECT_EQ(fs::last_write_time(first), time);
  EXPECT_EQ(summary(run_shard("1/2")).at("skipped"), 2) << "their sizes and times were recorded";
}

TEST_F(ShardTest, does_not_replace_a_file_that_is_no_equal) {
  write_png("other.png");
  ASSERT_EQ(run({"run", "other.png", "-o", "flat", "-k", "1"}).code, 0);
  fs::create_directory(at("out"));
  fs::copy_file(at("flat/other.png"), at("out/a.png"));
  const auto before = io::read_file(at("out/a.png"), 1);
  const ProcessResult result = run_shard("1/2");
  EXPECT_EQ(result.code, int(ExitCode::some_failed)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a.png already exists"));
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before);
}

TEST_F(ShardTest, shares_the_folder_with_other_shards_only) {
  {
    const io::FolderLock lock(at("out"), io::FolderLock::Mode::shared);
    write("out/.eckart-0123456789abcdef-7.tmp", "half");
    EXPECT_EQ(run_shard("1/2").code, 0);
    EXPECT_TRUE(fs::exists(at("out/.eckart-0123456789abcdef-7.tmp"))) << "of another process";
    EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, int(ExitCode::temporary));
  }
  const io::FolderLock lock(at("out"));
  EXPECT_EQ(run_shard("1/2").code, int(ExitCode::temporary));
}

TEST_F(ShardTest, is_refused_if_it_contradicts_the_manifest) {
  EXPECT_THAT(run_shard("1/3").err, HasSubstr("--shard m:1/3: the manifest has 2 shards"));
  EXPECT_THAT(run_shard("3/2").err, HasSubstr("is not MANIFEST:I/N"));
  EXPECT_THAT(run_shard("1/2", {"in"}).err,
              HasSubstr("--shard cannot be combined with other inputs"));
  EXPECT_THAT(run_shard("1/2", {"--ledger", "l"}).err,
              HasSubstr("a ledger file cannot be combined"));
  EXPECT_EQ(run_shard("1/3").code, int(ExitCode::usage));
  EXPECT_FALSE(fs::exists(at("out")));
}

TEST_F(ShardTest, is_shown_with_the_others_as_one_run) {
  ASSERT_EQ(run_shard("2/2").code, 0);
  write("in/deep/c.png", "no image");
  ASSERT_EQ(run_shard("1/2").code, 0);
  nlohmann::json status = nlohmann::json::parse(run({"status", "out", "--json"}).out);
  EXPECT_EQ(status.at("done"), 4);
  EXPECT_EQ(status.at("manifests")[0].at("finished_shards"), 2);
  EXPECT_EQ(status.at("manifests")[0].at("images"), 4);
  EXPECT_EQ(status.at("unfinished"), 1) << "an input has changed";
  const ProcessResult text = run({"status", "out", "--report", "report.csv"});
  EXPECT_THAT(text.out,
              AllOf(HasSubstr("out: 4 done, 0 failed\n"), HasSubstr("2 of 2 shards finished")));
  std::ifstream report(at("report.csv"));
  EXPECT_EQ(std::count(std::istreambuf_iterator<char>(report), {}, '\n'), 5)
      << "with a line of heads";
}

TEST_F(ShardTest, is_merged_into_the_ledger_of_the_folder) {
  EXPECT_EQ(run({"ledger", "merge", "in"}).code, int(ExitCode::no_input));
  ASSERT_EQ(run_shard("1/2").code, 0);
  ASSERT_EQ(run_shard("2/2").code, 0);
  EXPECT_THAT(run({"ledger", "merge", "out"}).out,
              HasSubstr("4 outputs imported, 0 already known"));
  EXPECT_EQ(run({"ledger", "merge", "out"}).code, int(ExitCode::no_input)) << "nothing is left";
  EXPECT_EQ(summary(run({"run", "in", "-o", "out", "-k", "2", "--json"})).at("skipped"), 4);
}

TEST_F(ShardTest, keeps_its_ledger_if_that_cannot_be_merged) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  std::string manifest;
  for (const auto& entry : fs::directory_iterator(at("out/.eckart/shards")))
    if (entry.is_directory()) manifest = entry.path().native();
  const fs::path damaged = fs::path(manifest) / "2.0123456789abcdef.db";
  std::ofstream(damaged) << std::string(5000, 'x');
  const ProcessResult merged = run({"ledger", "merge", "out"});
  EXPECT_EQ(merged.code, 0) << merged.err;
  EXPECT_THAT(merged.out, HasSubstr("2 outputs imported"));
  EXPECT_THAT(merged.err, HasSubstr("left out"));
  EXPECT_TRUE(fs::exists(damaged));
}

TEST_F(ShardTest, is_needed_no_more_after_the_merge) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  ASSERT_EQ(run_shard("2/2").code, 0);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"run", "in", "-o", "out", "-k", "2"},
        {"prune", "out"},
        {"ledger", "export", "out"}}) {
    const ProcessResult refused = run(command);
    EXPECT_EQ(refused.code, int(ExitCode::usage)) << command[0];
    EXPECT_THAT(refused.err, HasSubstr("first run eckart ledger merge out")) << command[0];
  }
  ASSERT_EQ(run({"ledger", "merge", "out"}).code, 0);
  fs::remove(at("in/a.png"));
  ASSERT_EQ(run({"prune", "out", "--yes"}).code, 0);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("out: 3 done, 0 failed\n"));
}

TEST_F(ShardTest, knows_what_was_done_before_the_merge) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  ASSERT_EQ(run_shard("2/2").code, 0);
  ASSERT_EQ(run({"ledger", "merge", "out"}).code, 0);
  ASSERT_EQ(run({"shard", "in", "--count", "1", "-o", "m"}).code, 0);
  EXPECT_EQ(summary(run_shard("1/1")).at("skipped"), 4);
  const ProcessResult reprocessed = run_with_rank("1", "1/1", {"--reprocess", "--json"});
  EXPECT_THAT(reprocessed.err, HasSubstr("has 4 outputs made with other settings (rank 2 -> 1)"));
  EXPECT_EQ(summary(reprocessed).at("done"), 4);
}

TEST_F(ShardTest, may_have_other_settings_than_a_run_that_made_nothing) {
  fs::rename(at("in"), at("away"));
  EXPECT_NE(run_with_rank("1", "1/2").code, 0);
  fs::rename(at("away"), at("in"));
  EXPECT_EQ(run_with_rank("2", "1/2").code, 0);
}

TEST_F(ShardTest, is_not_processed_with_other_settings_than_the_last_one) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  const std::vector<std::string> before = files("out");
  const ProcessResult refused = run_with_rank("1", "2/2");
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err,
              AllOf(HasSubstr("out has shards that were processed with other settings (rank 2 -> "
                              "1): nothing was done"),
                    HasSubstr("Use --reprocess"), HasSubstr("another output folder")));
  EXPECT_EQ(files("out"), before);
  EXPECT_THAT(run_with_rank("2,1", "2/2").err,
              HasSubstr("(with output: png, solver auto, rank 1)"));
  EXPECT_EQ(run_shard("2/2").code, 0);
}

TEST_F(ShardTest, has_new_settings_after_one_is_reprocessed) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  ASSERT_EQ(run_shard("2/2").code, 0);
  const ProcessResult reprocessed = run_with_rank("1", "1/2", {"--reprocess"});
  EXPECT_EQ(reprocessed.code, 0);
  EXPECT_THAT(reprocessed.err, HasSubstr("keeps its outputs until it is reprocessed"));
  EXPECT_THAT(run_with_rank("2", "2/2").err, HasSubstr("other settings (rank 1 -> 2)"));
  EXPECT_THAT(run_with_rank("1", "2/2").err, HasSubstr("has 2 outputs made with other settings"));
  EXPECT_EQ(run_with_rank("1", "2/2", {"--reprocess"}).code, 0);
  EXPECT_EQ(run_with_rank("2", "1/2", {"--overwrite"}).code, 0) << "back again";
  EXPECT_EQ(run_with_rank("2", "1/2").code, 0);
}

TEST_F(ShardTest, says_in_a_dry_run_that_settings_differ) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  const ProcessResult result = run_with_rank("1", "2/2", {"--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("has shards that were processed with other settings"));
  EXPECT_THAT(run_with_rank("1", "2/2", {"--dry-run", "--reprocess"}).err,
              Not(HasSubstr("other settings")));
}

TEST_F(ShardTest, is_shown_with_the_settings_of_all) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  EXPECT_THAT(run({"status", "out"}).out, Not(HasSubstr("settings")));
  ASSERT_EQ(run_with_rank("1", "2/2", {"--reprocess"}).code, 0);
  EXPECT_THAT(run({"status", "out"}).out,
              HasSubstr("shards were processed with 2 settings: rank 2 -> 1\n"));
  EXPECT_EQ(
      nlohmann::json::parse(run({"status", "out", "--json"}).out).at("shard_settings"),
      nlohmann::json::parse(R"([["png, solver auto, rank 2"], ["png, solver auto, rank 1"]])"));
}

/// They may be close, but what is recorded of them would be wrong.
TEST_F(ShardTest, does_not_take_outputs_of_other_settings_for_its_own) {
  const auto run_with_quality = [&](const std::string& quality, const std::string& shard = "1/2",
                                    const std::string& option = "--quiet") {
    return run_shard(shard,
                     {"--format", "jpeg", "--set", "output.jpeg_quality=" + quality, option});
  };
  ASSERT_EQ(run_with_quality("99").code, 0);
  ASSERT_EQ(run_with_quality("98", "2/2", "--reprocess").code, 0);
  const auto before = io::read_file(at("out/a.jpg"), 1);
  for (const auto& entry : fs::recursive_directory_iterator(at("out/.eckart/shards")))
    if (entry.path().extension() == ".db") fs::remove(entry.path());
  const ProcessResult result = run_with_quality("98");
  EXPECT_EQ(result.code, int(ExitCode::some_failed)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("a.jpg already exists"));
  EXPECT_EQ(io::read_file(at("out/a.jpg"), 1), before);
}

TEST_F(ShardTest, writes_nothing_in_a_dry_run) {
  const ProcessResult result = run_shard("1/2", {"--dry-run"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_FALSE(fs::exists(at("out")));
}

/// Whoever comes second keeps what the first one made.
TEST_F(ShardTest, may_be_processed_twice_at_once) {
  for (int i = 0; i < 40; ++i) write_png("more/" + std::to_string(i) + ".png");
  ASSERT_EQ(run({"shard", "more", "--count", "1", "-o", "m"}).code, 0);
  const std::vector<std::string> arguments{"run", "--shard", "m:1/1",  "-o", "out",
                                           "-k",  "2",       "--json", "-q"};
  EckartProcess first(arguments, {.folder = at("")}), second(arguments, {.folder = at("")});
  for (EckartProcess* process : {&first, &second}) {
    const ProcessResult result = process->wait();
    EXPECT_EQ(result.code, 0) << result.err;
    const nlohmann::json json = nlohmann::json::parse(result.out);
    EXPECT_EQ(int(json.at("done")) + int(json.at("skipped")), 40);
  }
  EXPECT_EQ(files("out").size(), 40U);
  EXPECT_EQ(summary(run_shard("1/1")).at("skipped"), 40);
}

TEST_F(ShardTest, may_be_reprocessed_at_once_with_others) {
  ASSERT_EQ(run_shard("1/2").code, 0);
  ASSERT_EQ(run_shard("2/2").code, 0);
  const auto arguments = [](const std::string& shard) {
    return std::vector<std::string>{"run", "--shard", "m:" + shard,  "-o", "out",
                                    "-k",  "1",       "--reprocess", "-q"};
  };
  EckartProcess first(arguments("1/2"), {.folder = at("")}),
      second(arguments("2/2"), {.folder = at("")});
  for (EckartProcess* process : {&first, &second}) {
    const ProcessResult result = process->wait();
    EXPECT_EQ(result.code, 0) << result.err;
  }
  for (const char* shard : {"1/2", "2/2"}) EXPECT_EQ(run_with_rank("1", shard).code, 0);
}

}  // namespace
}  // namespace eckart::test
