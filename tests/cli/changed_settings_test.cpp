// A changed setting replaces no result without a request. The message counts the results and names
// the setting.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

class ChangedSettingTest : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
    ASSERT_EQ(run_with("2").code, 0);
    before_ = io::read_file(at("out/a.png"), 1);
  }
  ProcessResult run_with(const std::string& rank, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::vector<std::byte> result() const { return io::read_file(at("out/a.png"), 1); }

  std::vector<std::byte> before_;
};

TEST_F(ChangedSettingTest, does_not_reprocess_unless_requested) {
  write_png("in/new.png");
  const ProcessResult refused = run_with("7");
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("out has 3 outputs made with other settings (rank 2 -> 7)"));
  EXPECT_THAT(refused.err, HasSubstr("Use --reprocess"));
  EXPECT_EQ(result(), before_);
  EXPECT_FALSE(fs::exists(at("out/new.png"))) << "nothing was begun";
  EXPECT_EQ(run_with("2").code, 0);
}

/// The output exists, but is not recorded as done.
TEST_F(ChangedSettingTest, is_refused_for_results_of_a_run_killed_before_recording) {
  fs::remove_all(at("out"));
  fs::remove(at("in/b.png"));
  fs::remove_all(at("in/deep"));
  for (int call = 1; !fs::exists(at("out/a.png")) && call < 20; ++call)
    run({"run", "in", "-o", "out", "-k", "2"},
        {.fault = "folder:0:" + std::to_string(call) + ":1"});
  ASSERT_EQ(result(), before_);
  write_png("in/new.png");
  const ProcessResult refused = run_with("7");
  EXPECT_EQ(refused.code, int(ExitCode::usage)) << refused.err;
  EXPECT_THAT(refused.err, HasSubstr("out has 1 output made with other settings (rank 2 -> 7)"));
  EXPECT_THAT(files("out"), ElementsAre("a.png")) << "nothing was begun";
  EXPECT_EQ(run_with("7", {"--reprocess"}).code, 0);
  EXPECT_NE(result(), before_);
}

TEST_F(ChangedSettingTest, reprocesses_when_requested_and_warns_first) {
  const ProcessResult reprocessed = run_with("7", {"--reprocess"});
  EXPECT_EQ(reprocessed.code, 0) << reprocessed.err;
  EXPECT_THAT(
      reprocessed.err,
      HasSubstr(
          "out has 3 outputs made with other settings (rank 2 -> 7): they will be reprocessed"));
  EXPECT_NE(result(), before_);
  EXPECT_THAT(run_with("7", {"--reprocess"}).err, Not(HasSubstr("reprocessed"))) << "once";
  EXPECT_EQ(run_with("2", {"--overwrite"}).code, 0);
  EXPECT_EQ(result(), before_);
}

TEST_F(ChangedSettingTest, is_reported_by_dry_run) {
  const ProcessResult refused = run_with("7", {"--dry-run"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr("out/a.png: collision (rank 2 -> 7)\n"));
  EXPECT_EQ(refused.err,
            "inputs: 3, 0 MB to read, 3 would fail\n"
            "outputs: 0 new, 0 same, 0 reprocessed, 3 collisions\n"
            "to resolve 3 collisions, move the file, or set another output folder or output.name; "
            "a run with --reprocess reprocesses it\n"
            "the run would do nothing and end with 64: out has 3 outputs made with other settings "
            "(rank 2 -> 7). Use --reprocess to reprocess them, or keep both with another output "
            "folder or output.name\n");
  const ProcessResult json = run_with("7", {"--dry-run", "--json"});
  EXPECT_THAT(line_containing(json.out, "dry_run_summary"),
              HasSubstr("\"refusal\":\"out has 3 outputs made with other settings"));
  const ProcessResult reprocessed = run_with("7", {"--dry-run", "--reprocess", "--format", "png"});
  EXPECT_EQ(reprocessed.code, 0);
  EXPECT_THAT(reprocessed.out, HasSubstr("out/a.png: reprocessed (rank 2 -> 7)\n"));
}

/// Inputs from a pipe cannot be checked before the run.
TEST_F(ChangedSettingTest, fails_each_image_when_inputs_come_from_a_pipe) {
  ASSERT_EQ(run({"run", "--files-from", "-", "-o", "piped", "-k", "2"}, {.in = "in/a.png\n"}).code,
            0);
  const ProcessResult refused =
      run({"run", "--files-from", "-", "-o", "piped", "-k", "7"}, {.in = "in/a.png\nin/b.png\n"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(line_containing(refused.err, "in/a.png: "),
              HasSubstr("a run with --reprocess reprocesses it"));
  EXPECT_TRUE(fs::exists(at("piped/in/b.png")));
}

TEST_F(ChangedSettingTest, may_be_the_decoder) {
  const ProcessResult refused = run_with("2", {"--set", "input.decoder=opencv"});
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err,
              HasSubstr("3 outputs made with other settings (decoder strict -> opencv)"));
  EXPECT_EQ(run_with("2", {"--set", "input.decoder=opencv", "--reprocess"}).code, 0);
  EXPECT_THAT(run_with("2").err, HasSubstr("(decoder opencv -> strict)"));
  EXPECT_EQ(run_with("2", {"--set", "input.decoder=strict", "--reprocess"}).code, 0);
  EXPECT_THAT(run_with("2").err, HasSubstr("3 skipped")) << "strict is the default";
}

TEST_F(ChangedSettingTest, may_be_the_certificate) {
  const ProcessResult refused = run_with("2", {"--set", "certificate=bound"});
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("(certificate estimate -> bound)"));
  EXPECT_THAT(run_with("2", {"--set", "certificate=bound", "--reprocess"}).err,
              HasSubstr("3 done"));
}

TEST_F(ChangedSettingTest, keeps_results_at_other_paths) {
  EXPECT_EQ(run_with("2,7").code, 0) << "a.k2.png, a.k7.png";
  EXPECT_EQ(run_with("7", {"--format", "jpeg"}).code, 0) << "a.jpg";
}

TEST_F(ChangedSettingTest, does_not_prevent_processing_of_changed_input) {
  write("in/a.png", encoded("png", 30, 20));
  fs::remove(at("in/b.png"));
  fs::remove_all(at("in/deep"));
  EXPECT_EQ(run_with("7").code, 0);
  EXPECT_EQ(decode("out/a.png").shape().rows, 30);
}

class ChangedSettingInWatchTest : public WatchTest {
 protected:
  void make_results() {
    configure("rank: 2");
    for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) write_png(name);
    start();
    wait_for_outputs(3);
    before_ = io::read_file(at("out/a.png"), 1);
  }
  ProcessResult check() { return run({"watch", "--config", "eckart.yaml", "--check"}); }

  std::vector<std::byte> before_;
};

TEST_F(ChangedSettingInWatchTest, keeps_results_of_other_settings_and_warns_on_reload) {
  make_results();
  configure("rank: 7");
  EXPECT_THAT(check().err,
              AllOf(HasSubstr("3 outputs made with other settings (rank 2 -> 7): they are kept"),
                    HasSubstr("set on_change: reprocess")));
  service_->signal(SIGHUP);
  wait_for_log("3 outputs made with other settings (rank 2 -> 7): they are kept");
  write_png("in/new.png");
  wait_for_outputs(4);
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before_);
  write("in/b.png", encoded("png", 30, 20));
  wait_until([&] { return decode("out/b.png").shape().rows == 30; });
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before_);
}

/// The output is kept, and recorded.
TEST_F(ChangedSettingInWatchTest, records_a_kept_result_of_a_killed_service) {
  configure("rank: 2");
  write_png("in/a.png");
  write_png("in/b.png");
  for (int call = 1; !fs::exists(at("out/a.png")) && !fs::exists(at("out/b.png")); ++call) {
    start({.fault = "folder:0:" + std::to_string(call) + ":1"});
    EXPECT_NE(service_->wait().code, 0);
  }
  configure("rank: 7");
  EXPECT_THAT(check().err, HasSubstr("made with other settings (rank 2 -> 7): "));
  start();
  wait_for_outputs(2);
  wait_until([&] { return run({"status", "out"}).out.find("2 done") != std::string::npos; });
  EXPECT_EQ(stop().code, 0);
  fs::remove(at("in/a.png"));
  fs::remove(at("in/b.png"));
  EXPECT_THAT(run({"prune", "out", "--include-empty"}).out, HasSubstr("2 files would be removed"));
}

/// A service replaced one result and was killed before it recorded that.
TEST_F(ChangedSettingInWatchTest, counts_a_replaced_result_once) {
  make_results();
  EXPECT_EQ(stop().code, 0);
  const auto is_replaced = [&] {
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      if (io::read_file(at("out") / name, 1) != before_) return true;
    }
    return false;
  };
  configure("rank: 7, on_change: reprocess");
  for (int call = 1; !is_replaced() && call < 20; ++call) {
    start({.fault = "folder:0:" + std::to_string(call) + ":1"});
    service_->wait();
  }
  configure("rank: 9");
  EXPECT_THAT(check().err, HasSubstr(" 3 outputs made with other settings ("));
}

TEST_F(ChangedSettingInWatchTest, reprocesses_results_when_configured_and_warns_first) {
  make_results();
  configure("rank: 7, on_change: reprocess");
  EXPECT_THAT(
      check().err,
      HasSubstr("3 outputs made with other settings (rank 2 -> 7): they will be reprocessed"));
  service_->signal(SIGHUP);
  wait_for_log("3 outputs made with other settings (rank 2 -> 7): they will be reprocessed");
  wait_until([&] { return io::read_file(at("out/a.png"), 1) != before_; });
}

}  // namespace
}  // namespace eckart::test
