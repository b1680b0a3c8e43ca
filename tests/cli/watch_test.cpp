// The service from outside: what arrives comes out once, and what happens to it then.
#include <cerrno>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using Watch = WatchTest;

TEST_F(Watch, does_what_is_there_and_what_arrives_and_ends_clean_when_stopped) {
  write_png("in/there.png");
  configure();
  start();
  wait_for_outputs(1);
  write_png("in/deep/er/arrives.png");
  wait_for_outputs(2);
  const Finished result = stop();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"), ElementsAre("deep/er/arrives.png", "there.png"));
  EXPECT_THAT(files("in"), ElementsAre("deep/er/arrives.png", "there.png"));
}

TEST_F(Watch, a_restart_does_nothing_again_and_what_came_meanwhile) {
  write_png("in/a.png");
  configure();
  start();
  wait_for_outputs(1);
  stop();
  const auto before = fs::last_write_time(at("out/a.png"));
  write_png("in/b.png");
  start();
  wait_for_outputs(2);
  stop();
  EXPECT_EQ(fs::last_write_time(at("out/a.png")), before);
}

TEST_F(Watch, an_input_that_changes_is_done_again) {
  write("in/a.png", encoded("png", 24, 16));
  configure();
  start();
  wait_for_outputs(1);
  write("in/a.png", encoded("png", 40, 32));
  wait_until([&] {
    try {
      return decode("out/a.png").shape().rows == 40;
    } catch (const std::exception&) {
      return false;
    }
  });
}

TEST_F(Watch, each_watch_has_ranks_and_format_of_its_own) {
  fs::create_directories(at("in2"));
  write("eckart.yaml", "backend: cpu\nwatches:\n" + watch("in", "out", "rank: [2, 5]") +
                           "  - {input: " + at("in2").string() + ", output: {folder: " +
                           at("out2").string() + ", format: jpeg}, settle_ms: 20}\n");
  write_png("in/a.png");
  write_png("in2/a.png");
  start();
  wait_for_outputs(2);
  wait_for_outputs(1, "out2");
  EXPECT_THAT(files("out"), ElementsAre("a.k2.png", "a.k5.png"));
  EXPECT_THAT(files("out2"), ElementsAre("a.jpg"));
}

TEST_F(Watch, after_delete_an_input_is_gone_once_it_is_done) {
  configure("after: delete");
  write_png("in/a.png");
  start();
  wait_for_outputs(1);
  wait_until([&] { return count("in") == 0; });
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

TEST_F(Watch, after_move_an_input_is_in_the_other_folder_and_never_over_another) {
  configure("after: move, move_to: " + at("done").string());
  write_png("in/sub/a.png");
  start();
  wait_until([&] { return count("done") == 1 && count("in") == 0; });
  EXPECT_THAT(files("done"), ElementsAre("sub/a.png"));
  write("in/sub/a.png", encoded("png", 40, 32));
  wait_until([&] { return count("done") == 2 && count("in") == 0; });
  EXPECT_EQ(decode("done/sub/a.png").shape().rows, 24);
}

TEST_F(Watch, after_move_is_as_good_where_files_cannot_be_renamed_to_free_names_alone) {
  configure("after: move, move_to: " + at("done").string() + ", patience_s: 0");
  write_png("in/a.png");
  write("in/bad.png", "this is no image");
  start({.fault = "noreplace:" + std::to_string(EINVAL) + ":1:1000"});  // as on NFS
  wait_until([&] { return count("done") == 1 && count("in") == 0; });
  write("in/a.png", encoded("png", 40, 32));
  wait_until([&] { return count("done") == 2 && count("in") == 0; });
  EXPECT_EQ(decode("done/a.png").shape().rows, 24);
  EXPECT_TRUE(fs::exists(at("out/.eckart/quarantine/bad.png")));
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(files("in"), IsEmpty());
}

TEST_F(Watch, a_half_written_file_is_tried_again_until_it_is_whole) {
  const auto whole = encoded("png");
  write("in/slow.png", std::span(whole).first(whole.size() / 2));
  configure();
  start();
  wait_for_log("to be tried again");
  write("in/slow.png", whole);
  wait_for_outputs(1);
  EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/slow.png.reason.json")));
}

/// An operator may wait until nothing is pending.
TEST_F(Watch, what_it_leaves_alone_is_not_pending) {
  configure();
  write_png("elsewhere.png");
  fs::create_symlink(at("elsewhere.png"), at("in/link.png"));
  ASSERT_EQ(::mkfifo(at("in/fifo.png").c_str(), 0600), 0);
  write_png("in/a.png");
  start();
  wait_for_outputs(1);
  EXPECT_EQ(stop().code, 0);
  write_png("in/late.png");
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 done, 0 failed\n1 pending\n"));
}

TEST_F(Watch, the_ledger_forgets_results_that_are_taken_away) {
  const auto done = [&] { return run({"status", "out"}).out; };
  configure("after: delete");
  write_png("in/a.png");
  start();
  wait_until([&] { return fs::exists(at("out/a.png")) && count("in") == 0; });
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(done(), HasSubstr("1 done"));
  fs::remove(at("out/a.png"));
  write_png("in/b.png");
  write_png("in/c.png");
  start();
  wait_until([&] { return count("out") == 2 && count("in") == 0; });
  wait_until([&] { return done().find("2 done") != std::string::npos; });
  EXPECT_EQ(stop().code, 0);
}

TEST_F(Watch, another_file_that_looks_like_one_that_was_deleted_is_done) {
  configure("after: delete");
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  start();
  for (const int cols : {8, 9, 10, 11}) {  // all of one size, and of one inode where that is free
    auto file = encoded("png", 24, cols);
    file.resize(20000);  // what stands after an image's end is not looked at
    write(".stage.png", file);
    fs::last_write_time(at(".stage.png"), time);
    fs::rename(at(".stage.png"), at("in/a.png"));
    wait_until([&] { return count("in") == 0; });
    EXPECT_EQ(decode("out/a.png").shape().cols, cols);
  }
}

}  // namespace
}  // namespace eckart::test
