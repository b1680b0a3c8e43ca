// Tests a service: each arriving file is processed once, and its input is handled as configured.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

TEST_F(WatchTest, needs_no_settings_file_for_the_folders_of_the_command_line) {
  write_png("in/a.png");
  write("other.yaml", "backend: cpu\nwatches:\n" + watch("nowhere", "unused"));
  service_ = std::make_unique<EckartProcess>(
      std::vector<std::string>{"watch", "in", "-o", "out", "-k=2", "--format", "jpg", "--config",
                               "other.yaml"},
      EckartProcess::Options{.folder = at(".")});
  wait_for_outputs(1);
  EXPECT_THAT(files("out"), ElementsAre("a.jpg"));
  EXPECT_THAT(service_->err(), HasSubstr("ready: 1 watch\n")) << "FOLDER and -o replace `watches`";
  EXPECT_EQ(stop().code, 0);
}

TEST_F(WatchTest, processes_existing_and_arriving_files_and_stops_cleanly) {
  write_png("in/there.png");
  configure();
  start();
  wait_for_outputs(1);
  write_png("in/deep/er/arrives.png");
  wait_for_outputs(2);
  const ProcessResult result = stop();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(files("out"), ElementsAre("deep/er/arrives.png", "there.png"));
  EXPECT_THAT(files("in"), ElementsAre("deep/er/arrives.png", "there.png"));
}

TEST_F(WatchTest, processes_only_new_files_after_restart) {
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

TEST_F(WatchTest, locks_a_known_output_folder_while_idle) {
  configure();
  write_png("in/a.png");
  start();
  wait_for_outputs(1);
  stop();
  fs::remove(at("in/a.png"));
  start();
  wait_until([&] { return run({"prune", "out", "--yes"}).code == int(ExitCode::temporary); });
  EXPECT_EQ(run({"run", "in", "-o", "out"}).code, int(ExitCode::temporary));
  EXPECT_EQ(stop().code, 0);
  EXPECT_EQ(run({"prune", "out", "--yes"}).code, 0);
}

/// A disk may be mounted on the output folder before the first file arrives.
TEST_F(WatchTest, touches_no_new_output_folder_while_idle) {
  fs::create_directories(at("out"));
  configure();
  start();
  wait_for_log("ready: ");
  EXPECT_EQ(stop().code, 0);
  EXPECT_TRUE(fs::is_empty(at("out")));
}

TEST_F(WatchTest, warns_once_while_another_process_has_its_output_folder) {
  configure();
  write_png("in/a.png");
  ASSERT_EQ(run({"run", "in", "-o", "out"}).code, 0);
  fs::remove(at("in/a.png"));
  const int lock = ::open(at("out/.eckart/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(lock, LOCK_EX | LOCK_NB), 0);
  start();
  wait_for_log("files for this output folder wait");
  ::close(lock);
  wait_until([&] { return run({"prune", "out", "--yes"}).code == int(ExitCode::temporary); });
  EXPECT_EQ(count_occurrences(stop().err, "files for this output folder wait"), 1);
}

TEST_F(WatchTest, reprocesses_changed_input) {
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

TEST_F(WatchTest, applies_its_own_ranks_and_format) {
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

TEST_F(WatchTest, makes_an_added_rank_of_the_factors_that_it_keeps) {
  write_png("in/a.png");
  write("eckart.yaml", "backend: cpu\nwatches:\n  - {input: " + at("in").string() +
                           ", output: {folder: " + at("out").string() +
                           ", factors: float32}, settle_ms: 20, rank: 5}\n");
  start();
  wait_for_outputs(2);
  stop();
  EXPECT_THAT(files("out"), ElementsAre("a.npz", "a.png"));
  configure("rank: [2, 5]");
  start();
  wait_for_outputs(4);
  stop();
  EXPECT_THAT(files("out"), ElementsAre("a.k2.png", "a.k5.png", "a.npz", "a.png"));
  const std::string report = run({"status", "out", "--report", "-"}).out;
  EXPECT_THAT(line_containing(report, "a.k2.png"), HasSubstr("\"solvers\":[\"factors\"]"));
  EXPECT_THAT(line_containing(report, "a.npz"), Not(HasSubstr("\"solvers\":[\"factors\"]")));
}

TEST_F(WatchTest, removes_done_input_with_after_delete) {
  configure("after: delete");
  write_png("in/a.png");
  start();
  wait_for_outputs(1);
  wait_until([&] { return count("in") == 0; });
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

TEST_F(WatchTest, moves_input_and_overwrites_nothing_with_after_move) {
  configure("after: move, move_to: " + at("done").string());
  write_png("in/sub/a.png");
  start();
  wait_until([&] { return count("done") == 1 && count("in") == 0; });
  EXPECT_THAT(files("done"), ElementsAre("sub/a.png"));
  write("in/sub/a.png", encoded("png", 40, 32));
  wait_until([&] { return count("done") == 2 && count("in") == 0; });
  EXPECT_EQ(decode("done/sub/a.png").shape().rows, 24);
}

TEST_F(WatchTest, moves_input_without_rename_noreplace_with_after_move) {
  configure("after: move, move_to: " + at("done").string() + ", retry_timeout_s: 0");
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

TEST_F(WatchTest, retries_partial_file_until_complete) {
  const auto whole = encoded("png");
  write("in/slow.png", std::span(whole).first(whole.size() / 2));
  configure();
  start();
  wait_for_log("the file may be incomplete and is retried for ");
  write("in/slow.png", whole);
  wait_for_outputs(1);
  EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/slow.png.record.json")));
}

/// An operator may wait until no file is pending.
TEST_F(WatchTest, does_not_count_ignored_files_as_pending) {
  configure();
  write_png("elsewhere.png");
  fs::create_symlink(at("elsewhere.png"), at("in/link.png"));
  ASSERT_EQ(::mkfifo(at("in/fifo.png").c_str(), 0600), 0);
  write_png("in/a.png");
  start();
  wait_for_outputs(1);
  EXPECT_EQ(stop().code, 0);
  write_png("in/late.png");
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 done, 0 failed\n1 unfinished\n"));
}

TEST_F(WatchTest, removes_deleted_results_from_the_ledger) {
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

TEST_F(WatchTest, processes_new_file_with_metadata_of_a_deleted_one) {
  configure("after: delete");
  const auto time = fs::file_time_type::clock::now() - std::chrono::hours(1);
  start();
  for (const int cols :
       {8, 9, 10, 11}) {  // all have the same size, and the same inode if it is free
    auto file = encoded("png", 24, cols);
    file.resize(20000);  // bytes after the end of an image are ignored
    write(".stage.png", file);
    fs::last_write_time(at(".stage.png"), time);
    fs::rename(at(".stage.png"), at("in/a.png"));
    wait_until([&] { return count("in") == 0; });
    EXPECT_EQ(decode("out/a.png").shape().cols, cols);
  }
}

}  // namespace
}  // namespace eckart::test
