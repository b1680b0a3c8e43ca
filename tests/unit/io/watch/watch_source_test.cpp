#include "io/watch/watch_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <stdexcept>

#include "core/descriptor.hpp"
#include "core/error.hpp"
#include "io/file.hpp"
#include "tests/support/waiting_thread.hpp"
#include "tests/unit/io/watch/event_queue.hpp"
#include "tests/unit/io/watch/source_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class WatchSourceTest : public WatchSourceFixture {};

TEST_F(WatchSourceTest, gives_what_is_there_and_what_comes) {
  write("a.png");
  write("d/b.png");
  start();
  EXPECT_THAT(take(2), ElementsAre("a.png", "d/b.png"));
  write("c.png");
  write("new/d.png");
  EXPECT_THAT(take(2), ElementsAre("c.png", "new/d.png"));
}

TEST_F(WatchSourceTest, an_arrival_says_where_it_is_and_whose) {
  fs::create_directory(folder_.path() / "other");
  std::ofstream(folder_.path() / "other/a.png") << "x";
  start({{options_for(root_), {}}, {options_for(folder_.path() / "other"), {}}});
  const auto arrival = next();
  ASSERT_TRUE(arrival);
  EXPECT_EQ(arrival->file, folder_.path() / "other/a.png");
  EXPECT_EQ(arrival->relative, "a.png");
  EXPECT_EQ(arrival->job, 1);
  EXPECT_TRUE(arrival->outcome.ok());
  EXPECT_FALSE(arrival->last_try);
}

TEST_F(WatchSourceTest, a_stop_ends_the_wait) {
  start();
  std::stop_source stop;
  test::WaitingThread waiting([&] { EXPECT_FALSE(source_->next(stop.get_token())); });
  ASSERT_TRUE(waiting.wait_until_asleep());
  stop.request_stop();
  waiting.join();
  write("a.png");
  EXPECT_FALSE(source_->next(stop.get_token()));
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, no_watch_is_no_end) {
  start({});
  std::stop_source stop;
  test::WaitingThread waiting([&] { EXPECT_FALSE(source_->next(stop.get_token())); });
  ASSERT_TRUE(waiting.wait_until_asleep());
  stop.request_stop();
}

TEST_F(WatchSourceTest, watches_take_turns) {
  const fs::path small = folder_.path() / "small";
  fs::create_directory(small);
  write_many("d", 5000);
  for (const char* name : {"a.png", "b.png", "c.png"}) std::ofstream(small / name) << "x";
  start({{options_for(root_), {}}, {options_for(small), {}}});
  wait_for([&] { return state(0).ready > 1000 && state(1).ready == 3; });
  int of_small = 0;
  for (int i = 0; i < 6; ++i) of_small += next()->job == 1;
  EXPECT_EQ(of_small, 3);
}

TEST_F(WatchSourceTest, gives_all_of_many) {
  constexpr int kCount = 3000;  // more than are ready at a time
  WatchOptions options = options_for(root_);
  options.most_pending = 100;
  options.root_check = std::chrono::hours(1);  // so that this wakes nobody
  write_many("d", kCount);
  start({{options, {}}});
  Names names;
  for (int i = 0; i < kCount; ++i) names.insert(next_name());
  EXPECT_EQ(names.size(), std::size_t(kCount));
}

TEST_F(WatchSourceTest, what_was_there_for_long_is_not_waited_for) {
  fs::create_symlink("/bin/sh", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.settle = 2 * kDeadline;
  options.links = Links::files;
  start({{options, {}}});
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, what_events_bring_too_much_of_is_found_later) {
  WatchOptions options = options_for(root_);
  options.most_pending = 4;
  Names done;  // of the watch's thread
  start({{options, [&](const Arrival& arrival, const FileState&) {
            return done.insert(arrival.relative).second;
          }}});
  wait_for([&] { return state().scanned; });
  write_many("", 100);
  EXPECT_EQ(take(100).size(), 100u);
  source_.reset();
}

TEST_F(WatchSourceTest, what_is_no_work_is_not_given) {
  start({{options_for(root_), [](const Arrival& arrival, const FileState& state) {
            EXPECT_EQ(state, state_of(arrival.file));
            return arrival.relative != "a.png";
          }}});
  write("a.png");
  write("b.png");  // and so after it
  EXPECT_EQ(next_name(), "b.png");
  EXPECT_EQ(state().pending, 0u);
}

TEST_F(WatchSourceTest, whoever_cannot_tell_what_is_work_ends_it) {
  start({{options_for(root_), [](const Arrival&, const FileState&) -> bool {
            throw std::runtime_error("no ledger");
          }}});
  write("a.png");
  EXPECT_THROW(next(), std::runtime_error);
}

TEST_F(WatchSourceTest, what_changes_in_flight_comes_again_and_not_before_it_is_finished) {
  write("a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
  write("a.png", "another");
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
  finish("a.png");
  EXPECT_EQ(next_name(), "a.png");
  finish("a.png");
  finish("b.png");
  wait_for([&] { return state().in_flight == 0; });
  write("c.png");
  EXPECT_EQ(next_name(), "c.png") << "and a.png is over";
}

TEST_F(WatchSourceTest, what_is_deleted_in_time_is_not_given) {
  WatchOptions options = options_for(root_);
  options.settle = std::chrono::milliseconds(200);
  start({{options, {}}});
  write("a.png");
  wait_for([&] { return state().pending == 1; });
  fs::remove(root_ / "a.png");
  wait_for([&] { return state().pending == 0; });
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchSourceTest, what_settles_below_a_folder_that_has_left_is_forgotten) {
  WatchOptions options = options_for(root_);
  options.settle = 2 * kDeadline;
  start({{options, {}}});
  for (const char* name : {"d/a.png", "d/e/b.png", "c.png"}) write(name);
  wait_for([&] { return state().pending == 3; });
  fs::rename(root_ / "d", folder_.path() / "archive");
  fs::create_directory_symlink(folder_.path() / "archive", root_ / "d");
  wait_for([&] { return state().pending == 1; });
  EXPECT_EQ(told("d has left, or was replaced: 2 files that waited there are forgotten"), 1);
}

TEST_F(WatchSourceTest, what_is_ready_below_a_folder_that_has_left_is_forgotten) {
  start();
  for (const char* name : {"d/a.png", "d/b.png", "c.png"}) write(name);
  wait_for([&] { return state().ready == 3; });
  fs::rename(root_ / "d", folder_.path() / "archive");
  fs::create_directory_symlink(folder_.path() / "archive", root_ / "d");
  wait_for([&] { return state().ready == 1; });
  EXPECT_EQ(next_name(), "c.png");
}

TEST_F(WatchSourceTest, what_is_no_regular_file_is_passed_over) {
  ASSERT_EQ(::mkfifo((root_ / "a.png").c_str(), 0600), 0);
  fs::create_directory(root_ / "b.png");
  fs::create_symlink("nowhere", root_ / "c.png");
  fs::create_symlink("/dev/null", root_ / "d.png");
  start();
  ASSERT_EQ(::mkfifo((root_ / "e.png").c_str(), 0600), 0);
  write("f.png");
  EXPECT_EQ(next_name(), "f.png");
}

TEST_F(WatchSourceTest, a_scan_that_is_asked_for_finds_what_makes_no_event) {
  fs::create_symlink(folder_.path() / "target", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.links = Links::files;
  start({{options, {}}});
  wait_for([&] { return state().scanned; });
  std::ofstream(folder_.path() / "target") << "x";
  source_->rescan(0);
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, events_that_are_lost_are_made_up_for) {
  std::mutex busy;
  std::atomic<bool> is_asked = false;
  start({{options_for(root_), [&](const Arrival&, const FileState&) {
            is_asked = true;
            const std::lock_guard lock(busy);
            return true;
          }}});
  wait_for([&] { return state().scanned; });
  {
    const std::lock_guard lock(busy);
    write("a.png");
    wait_for([&] { return is_asked.load(); });
    if (const std::string why_not = fill_event_queue(root_); !why_not.empty())
      GTEST_SKIP() << why_not;
    write("new/lost.png");
  }
  Names names;
  while (!names.contains("new/lost.png")) {
    const std::string name = next_name();
    if (name.empty()) break;
    names.insert(name);
    finish(name);
  }
  wait_for([&] { return state().overflows == 1; });
}

TEST_F(WatchSourceTest, full_scans_come_periodically) {
  fs::create_symlink(folder_.path() / "target", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.rescan = std::chrono::milliseconds(20);
  options.links = Links::files;
  start({{options, {}}});
  wait_for([&] { return state().scanned; });
  std::ofstream(folder_.path() / "target") << "x";
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, half_written_comes_until_its_last_try) {
  write("a.png");
  start();
  int tries = 0;
  for (bool last = false; !last; ++tries) {
    const auto arrival = next();
    ASSERT_TRUE(arrival);
    last = arrival->last_try;
    finish("a.png", Ending::half_written);
  }
  EXPECT_GT(tries, 1);
  wait_for([&] { return state().in_flight == 0; });
  EXPECT_EQ(state().pending, 0u);
}

TEST_F(WatchSourceTest, half_written_that_has_changed_has_patience_anew) {
  write("a.png");
  start();
  while (!next()->last_try) finish("a.png", Ending::half_written);
  write("a.png", "more");
  finish("a.png", Ending::half_written);
  EXPECT_FALSE(next()->last_try);
}

TEST_F(WatchSourceTest, an_environment_error_costs_no_file_and_is_told_once_each_way) {
  for (const char* name : {"a.png", "b.png", "c.png"}) write(name);
  start();
  const Names first{next_name(), next_name()};
  for (const std::string& name : first) {
    finish(name, Ending::environment);
    EXPECT_EQ(state().degraded, "why");
  }
  for (int i = 0; i < 3; ++i) finish(next_name(), Ending::environment);
  EXPECT_EQ(told("waiting: why"), 1);
  EXPECT_THAT(take(3), ElementsAre("a.png", "b.png", "c.png"));
  EXPECT_EQ(told("works again"), 1);
  EXPECT_EQ(state().degraded, "");
}

TEST_F(WatchSourceTest, where_it_cannot_be_said_what_is_work_it_is_asked_again) {
  write("a.png");
  std::atomic<int> asked = 0;
  start({{options_for(root_), [&](const Arrival&, const FileState&) {
            if (++asked < 4) throw EnvironmentError("the ledger is locked");
            return true;
          }}});
  EXPECT_EQ(next_name(), "a.png");
  EXPECT_EQ(asked, 4);
  EXPECT_EQ(told("waiting: the ledger is locked"), 1);
  EXPECT_EQ(told("works again"), 1);
  EXPECT_EQ(state().degraded, "");
}

TEST_F(WatchSourceTest, what_a_killed_process_had_taken_comes_anew) {
  write(".eckart-taken-0123456789abcdef-a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, what_a_killed_process_had_taken_in_a_hidden_directory_comes_anew) {
  const std::string name = std::string(251, 'x') + ".png";
  write(".eckart-taken-0123456789abcdef.1/" + name);
  start();
  EXPECT_EQ(next_name(), name);
}

TEST_F(WatchSourceTest, names_are_bytes) {
  const Names names{"new\nline.png", std::string(251, 'x') + ".png", "\xFF\xFE.png"};
  start();
  for (const std::string& name : names) write(name);
  EXPECT_EQ(take(3), names);
}

TEST_F(WatchSourceTest, a_flood_of_files_and_folders_loses_nothing) {
  constexpr std::size_t kFolders = 20, kFiles = 50;
  start();
  Names names;
  {
    std::vector<std::jthread> writers;
    for (const char* writer : {"a", "b"}) {
      writers.emplace_back([&, writer] {
        for (std::size_t i = 0; i < kFolders; ++i)
          write_many(fs::path(writer) / std::to_string(i), kFiles);
      });
    }
    while (names.size() < 2 * kFolders * kFiles) {
      const std::string name = next_name();
      if (name.empty()) break;
      names.insert(name);  // twice where a scan was there before its event
      finish(name);
    }
  }
  EXPECT_EQ(names.size(), 2 * kFolders * kFiles);
}

TEST_F(WatchSourceTest, a_link_that_leads_nowhere_is_told_of_where_links_are_ignored) {
  for (const Links links : {Links::files, Links::none}) {
    WatchOptions options = options_for(root_);
    options.links = links;
    start({{options, {}}});
    wait_for([&] { return state().scanned; });
    fs::create_symlink("nowhere", root_ / "a.png");
    write("b.png");
    EXPECT_EQ(next_name(), "b.png");
    finish("b.png");
    EXPECT_EQ(told("is a symbolic link and is ignored"), links == Links::none);
    source_.reset();
    fs::remove(root_ / "a.png");
  }
}

/// Over PATH_MAX, and so neither a scan nor an event can get at it.
TEST_F(WatchSourceTest, a_folder_with_too_long_a_path_is_told_of_once_and_passed_over) {
  const std::string name(250, 'd');
  constexpr int kLevels = 20;
  Descriptor folder(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kLevels; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), name.c_str(), 0700), 0);
    folder = Descriptor(::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  write("z/a.png");  // is found after that
  start();
  EXPECT_THAT(take(1), ElementsAre("z/a.png"));
  wait_for([&] { return state().scanned; });
  EXPECT_FALSE(state().polling);
  EXPECT_EQ(told("cannot be read: File name too long"), 1);
  source_->rescan(0);
  EXPECT_THAT(take(1), ElementsAre("z/a.png"));
  EXPECT_EQ(told("File name too long"), 1);
}

}  // namespace
}  // namespace eckart::io
