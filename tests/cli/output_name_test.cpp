// Inputs whose outputs would have the same name get different names.
#include <cstdlib>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

class OutputNameTest : public CliTest {
 protected:
  /// Kills a run into `out` after it renamed `output` and before it recorded it.
  void kill_before_recording(const std::string& output) {
    for (int call = 1; !fs::exists(at("out") / output) && call < 20; ++call) {
      const std::string fault = "folder:0:" + std::to_string(call) + ":1";
      run({"run", "in", "-o", "out", "-k", "2", "--backend", "cpu"}, {.fault = fault});
    }
    ASSERT_TRUE(fs::exists(at("out") / output));
  }
  ProcessResult run_in(const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "-k", "2", "--backend", "cpu"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments);
  }
};

TEST_F(OutputNameTest, is_given_to_a_good_input_beside_a_corrupt_one) {
  write("in/a.jpg", "no image");
  write_png("in/a.png");
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(run_in().code, 3);
    EXPECT_THAT(files("out"), ElementsAre("a.png.png"));
  }
  fs::remove(at("in/a.jpg"));
  EXPECT_THAT(run_in().err, HasSubstr("1 skipped")) << "its result stays where it is";
  EXPECT_THAT(files("out"), ElementsAre("a.png.png"));
}

/// The ledger identifies the input of an output of a killed run.
TEST_F(OutputNameTest, does_not_collide_with_the_output_of_a_killed_run) {
  write_png("in/a.png");
  kill_before_recording("a.png");
  write("in/a.jpg", encoded("jpeg"));
  const ProcessResult result = run_in();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"), ElementsAre("a.jpg.png", "a.png"));
  EXPECT_THAT(run_in().err, HasSubstr("2 skipped"));
}

/// The output keeps its full name although the other input is gone.
TEST_F(OutputNameTest, remains_the_full_name_after_a_killed_run) {
  write("in/a.jpg", encoded("jpeg"));
  write_png("in/a.png");
  ASSERT_EQ(run_in().code, 0);
  const std::string sql = "INSERT INTO publish_intent SELECT * FROM output; DELETE FROM output";
  const std::string ledger = at("out/.eckart/ledger.db").string();
  ASSERT_EQ(std::system(("sqlite3 '" + ledger + "' '" + sql + "'").c_str()), 0);
  fs::remove(at("in/a.jpg"));
  EXPECT_EQ(run_in().code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.png", "a.png.png"));
}

TEST_F(OutputNameTest, does_not_depend_on_threads_or_earlier_runs) {
  for (int i = 0; i < 30; ++i) {
    write("in/" + std::to_string(i) + ".jpg", encoded("jpeg"));
    write_png("in/" + std::to_string(i) + ".png");
  }
  EXPECT_EQ(run_in({"--set", "threads.load=4"}).code, 0);
  const Names before = files("out");
  EXPECT_EQ(before.size(), 60u);
  for (int i = 0; i < 30; i += 2) fs::remove(at("out/" + std::to_string(i) + ".png"));
  for (int i = 0; i < 30; i += 3) fs::remove(at("out/" + std::to_string(i) + ".png.png"));
  const ProcessResult again = run_in({"--set", "threads.load=4"});
  EXPECT_EQ(again.code, 0);
  EXPECT_EQ(count_occurrences(again.err, "in/0.png: output is"), 1) << "logged once";
  EXPECT_EQ(files("out"), before);
  fs::remove_all(at("out"));
  EXPECT_EQ(run_in({"--set", "threads.load=1"}).code, 0);
  EXPECT_EQ(files("out"), before);
}

TEST_F(OutputNameTest, is_printed_by_dry_run) {
  write("in/a.jpg", encoded("jpeg"));
  write_png("in/a.png");
  const std::string told = run_in({"--dry-run"}).out;
  EXPECT_THAT(told, HasSubstr("in/a.jpg -> out/a.png"));
  EXPECT_THAT(told, HasSubstr("in/a.png -> out/a.png.png"));
}

TEST_F(OutputNameTest, collides_when_the_pattern_lacks_the_input_name) {
  write("in/a.jpg", encoded("jpeg"));
  write_png("in/a.png");
  const ProcessResult result = run_in({"--set", "output.name=result.png"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(line_containing(result.err, "in/a.png: "), HasSubstr("output collision"));
}

/// What exists stays as it is, under its name, although another input comes that is listed first.
TEST_F(OutputNameTest, lets_a_rank_be_added) {
  const std::vector<std::string> by_rank{"--name", "{stem}.{label}.{ext}", "-k"};
  const auto run_at = [&](const std::string& ranks) {
    std::vector<std::string> arguments{"run", "in", "-o", "out", "--report", "-"};
    arguments.insert(arguments.end(), by_rank.begin(), by_rank.end());
    arguments.push_back(ranks);
    return run(arguments);
  };
  write_png("in/a.png");
  ASSERT_EQ(run_at("5").code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.k5.png"));
  const auto written = fs::last_write_time(at("out/a.k5.png"));
  write("in/a.jpg", encoded("jpeg"));
  const ProcessResult added = run_at("2,5");
  EXPECT_EQ(added.code, 0) << added.err;
  EXPECT_THAT(files("out"), ElementsAre("a.jpg.k2.png", "a.jpg.k5.png", "a.k2.png", "a.k5.png"));
  EXPECT_EQ(fs::last_write_time(at("out/a.k5.png")), written);
  EXPECT_EQ(count_occurrences(added.out, "\"result\":\"done\""), 3);
  EXPECT_THAT(line_containing(added.out, "out/a.k5.png"), HasSubstr("\"result\":\"skipped\""));
  EXPECT_THAT(run_at("5").err, HasSubstr("2 skipped")) << "also if fewer ranks are asked for";
}

TEST_F(OutputNameTest, is_used_once_for_an_input_given_twice) {
  write_png("in/a.png");
  const ProcessResult result = run({"run", "in/a.png", "in/a.png", "-o", "out", "-k", "2"});
  EXPECT_EQ(result.code, 3);
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

TEST_F(OutputNameTest, is_the_full_name_when_a_folder_has_the_usual_name) {
  write("in/b.jpg", encoded("jpeg"));
  write_png("in/b.png/i.png");
  for (int i = 0; i < 2; ++i) {
    const ProcessResult result = run_in();
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(files("out"), ElementsAre("b.jpg.png", "b.png/i.png"));
  }
}

TEST_F(OutputNameTest, collides_when_a_folder_has_the_name_of_an_earlier_result) {
  write("in/b.jpg", encoded("jpeg"));
  EXPECT_EQ(run_in().code, 0);
  write_png("in/b.png/i.png");
  write_png("in/c.png");
  const ProcessResult result = run_in();
  EXPECT_EQ(result.code, 3);
  const std::string line = line_containing(result.err, "in/b.png/i.png: ");
  EXPECT_THAT(line, HasSubstr("output collision"));
  EXPECT_THAT(line, HasSubstr("out/b.png is not a directory"));
  EXPECT_THAT(files("out"), ElementsAre("b.png", "c.png"));
}

class OutputNameInWatchTest : public WatchTest {};

TEST_F(OutputNameInWatchTest, is_distinct_and_logged_once) {
  configure();
  write("in/a.png", encoded("png", 24, 16));
  start();
  wait_for_outputs(1);
  write("in/a.jpg", encoded("jpeg", 40, 32));
  wait_for_outputs(2);
  EXPECT_EQ(decode("out/a.png").shape().rows, 24);
  EXPECT_EQ(decode("out/a.jpg.png").shape().rows, 40);
  EXPECT_EQ(count_occurrences(service_->err(), "is reserved for another input"), 1);
  write("in/a.jpg", encoded("jpeg", 48, 32));
  wait_until([&] { return count_occurrences(service_->err(), "out/a.jpg.png") > 2; });
  EXPECT_THAT(files("out"), ElementsAre("a.jpg.png", "a.png"));
  EXPECT_EQ(count_occurrences(service_->err(), "is reserved for another input"), 1);
}

TEST_F(OutputNameInWatchTest, does_not_block_other_inputs_if_a_file_and_a_folder_share_it) {
  configure("after: delete, retry_timeout_s: 0");
  write("in/b.jpg", encoded("jpeg"));
  start();
  wait_until([&] { return count("in") == 0; });
  write_png("in/b.png/i.png");
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/b.png.d/i.png")); });
  write_png("in/c.png");
  wait_for_outputs(2);
  EXPECT_THAT(files("out"), ElementsAre("b.png", "c.png"));
  EXPECT_THAT(service_->err(), Not(HasSubstr("paused")));
}

/// The same name belongs to a file in the quarantine and then to a folder in the inbox, and vice
/// versa.
TEST_F(OutputNameInWatchTest, does_not_conflict_in_the_quarantine) {
  configure("after: delete, retry_timeout_s: 0");
  write("in/q.png", "no image");
  write("in/r.png/x.png", "no image");
  start();
  const auto wait_for_quarantined = [&](int files) {  // a claimed file is hidden in the inbox
    wait_until([&] { return count_occurrences(service_->err(), "was quarantined") >= files; });
  };
  wait_for_quarantined(2);
  fs::remove_all(at("in/r.png"));
  write("in/q.png/x.png", "no image");
  write("in/r.png", "no image");
  wait_for_quarantined(4);
  write_png("in/good.png");
  wait_for_outputs(1);
  EXPECT_EQ(count_occurrences(service_->err(), "was quarantined"), 4) << service_->err();
  EXPECT_EQ(count_occurrences(service_->err(), " E "), 4) << service_->err();
  const fs::path quarantine = at("out/.eckart/quarantine");
  for (const char* name : {"q.png", "q.png.d/x.png", "r.png.d/x.png", "r.png"})
    EXPECT_TRUE(fs::is_regular_file(quarantine / name)) << name;
  fs::remove_all(at("in/q.png"));
  EXPECT_EQ(run({"requeue", "out", "q.png"}).code, 0);
}

}  // namespace
}  // namespace eckart::test
