// One changed setting replaces no result unasked, and whoever asks is told how many, and why.
#include <signal.h>

#include <nlohmann/json.hpp>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

class ChangedSettings : public CliTest {
 protected:
  void SetUp() override {
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png"}) write_png(name);
    ASSERT_EQ(run_with("2").code, 0);
    before_ = io::read_file(at("out/a.png"), 1);
  }
  Finished run_with(const std::string& rank, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
  std::vector<std::byte> result() const { return io::read_file(at("out/a.png"), 1); }

  std::vector<std::byte> before_;
};

TEST_F(ChangedSettings, replace_nothing_unasked) {
  write_png("in/new.png");
  const Finished refused = run_with("7");
  EXPECT_EQ(refused.code, int(ExitCode::usage));
  EXPECT_THAT(refused.err, HasSubstr("out has 3 results of other settings (rank 2 -> 7)"));
  EXPECT_THAT(refused.err, HasSubstr("--redo makes them again"));
  EXPECT_EQ(result(), before_);
  EXPECT_FALSE(fs::exists(at("out/new.png"))) << "nothing was begun";
  EXPECT_EQ(run_with("2").code, 0);
}

TEST_F(ChangedSettings, make_results_again_where_that_is_asked_for_and_say_so_first) {
  const Finished redone = run_with("7", {"--redo"});
  EXPECT_EQ(redone.code, 0) << redone.err;
  EXPECT_THAT(redone.err,
              HasSubstr("out has 3 results of other settings (rank 2 -> 7): made again"));
  EXPECT_NE(result(), before_);
  EXPECT_THAT(run_with("7", {"--redo"}).err, Not(HasSubstr("made again"))) << "once";
  EXPECT_EQ(run_with("2", {"--overwrite"}).code, 0);
  EXPECT_EQ(result(), before_);
}

TEST_F(ChangedSettings, are_told_of_by_a_dry_run) {
  const Finished refused = run_with("7", {"--dry-run"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(refused.out, HasSubstr("out/a.png: in the way (rank 2 -> 7)\n"));
  EXPECT_EQ(refused.err, "outputs: 0 new, 0 same, 0 redone, 3 in the way\n");
  const Finished redone = run_with("7", {"--dry-run", "--redo", "--format", "png"});
  EXPECT_EQ(redone.code, 0);
  EXPECT_THAT(redone.out, HasSubstr("out/a.png: redone (rank 2 -> 7)\n"));
}

/// Of inputs that come from a pipe nothing is known before.
TEST_F(ChangedSettings, cost_their_image_where_inputs_come_from_a_pipe) {
  ASSERT_EQ(run({"run", "--files-from", "-", "-o", "piped", "-k", "2"}, {.in = "in/a.png\n"}).code,
            0);
  const Finished refused =
      run({"run", "--files-from", "-", "-o", "piped", "-k", "7"}, {.in = "in/a.png\nin/b.png\n"});
  EXPECT_EQ(refused.code, 3);
  EXPECT_THAT(line_with(refused.err, "in/a.png: "), HasSubstr("make it again with --redo"));
  EXPECT_TRUE(fs::exists(at("piped/in/b.png")));
}

TEST_F(ChangedSettings, do_not_touch_what_has_another_place) {
  EXPECT_EQ(run_with("2,7").code, 0) << "a.k2.png, a.k7.png";
  EXPECT_EQ(run_with("7", {"--format", "jpeg"}).code, 0) << "a.jpg";
}

TEST_F(ChangedSettings, do_not_keep_a_changed_input_from_being_done) {
  write("in/a.png", encoded("png", 30, 20));
  fs::remove(at("in/b.png"));
  fs::remove_all(at("in/deep"));
  EXPECT_EQ(run_with("7").code, 0);
  EXPECT_EQ(decode("out/a.png").shape().rows, 30);
}

class WatchOnChange : public WatchTest {
 protected:
  void make_results() {
    configure("rank: 2");
    for (const char* name : {"in/a.png", "in/b.png", "in/c.png"}) write_png(name);
    start();
    wait_for_outputs(3);
    before_ = io::read_file(at("out/a.png"), 1);
  }
  Finished check() { return run({"watch", "--config", "eckart.yaml", "--check"}); }

  std::vector<std::byte> before_;
};

TEST_F(WatchOnChange, a_reload_keeps_results_of_other_settings_and_says_so) {
  make_results();
  configure("rank: 7");
  EXPECT_THAT(check().err, AllOf(HasSubstr("3 results of other settings (rank 2 -> 7): they stay"),
                                 HasSubstr("on_change: redo makes them again")));
  service_->signal(SIGHUP);
  wait_for_log("3 results of other settings (rank 2 -> 7): they stay");
  write_png("in/new.png");
  wait_for_outputs(4);
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before_);
  write("in/b.png", encoded("png", 30, 20));
  wait_until([&] { return decode("out/b.png").shape().rows == 30; });
  EXPECT_EQ(io::read_file(at("out/a.png"), 1), before_);
}

TEST_F(WatchOnChange, results_are_made_again_where_that_is_said_and_announced_first) {
  make_results();
  configure("rank: 7, on_change: redo");
  EXPECT_THAT(check().err, HasSubstr("3 results of other settings (rank 2 -> 7): made again"));
  service_->signal(SIGHUP);
  wait_for_log("3 results of other settings (rank 2 -> 7): made again");
  wait_until([&] { return io::read_file(at("out/a.png"), 1) != before_; });
}

}  // namespace
}  // namespace eckart::test
