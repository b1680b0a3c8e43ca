#include "io/watch/watch_source.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <atomic>
#include <stdexcept>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"
#include "io/read_file.hpp"
#include "tests/support/waiting_thread.hpp"
#include "tests/unit/io/watch/fill_event_queue.hpp"
#include "tests/unit/io/watch/watch_source_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class WatchSourceTest : public WatchSourceFixture {};

TEST_F(WatchSourceTest, returns_existing_and_new_files) {
  write("a.png");
  write("d/b.png");
  start();
  EXPECT_THAT(take_and_finish(2), ElementsAre("a.png", "d/b.png"));
  write("c.png");
  write("new/d.png");
  EXPECT_THAT(take_and_finish(2), ElementsAre("c.png", "new/d.png"));
}

TEST_F(WatchSourceTest, returns_path_and_watch_of_a_file) {
  fs::create_directory(folder_.path() / "other");
  std::ofstream(folder_.path() / "other/a.png") << "x";
  start({{options_for(root_), {}}, {options_for(folder_.path() / "other"), {}}});
  const auto item = next();
  ASSERT_TRUE(item);
  EXPECT_EQ(item->file, folder_.path() / "other/a.png");
  EXPECT_EQ(item->relative, "a.png");
  EXPECT_EQ(item->job, 1);
  EXPECT_TRUE(item->outcome.ok());
  EXPECT_FALSE(item->is_last_attempt);
}

TEST_F(WatchSourceTest, stops_waiting_on_request) {
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

TEST_F(WatchSourceTest, waits_without_any_watch) {
  start({});
  std::stop_source stop;
  test::WaitingThread waiting([&] { EXPECT_FALSE(source_->next(stop.get_token())); });
  ASSERT_TRUE(waiting.wait_until_asleep());
  stop.request_stop();
}

TEST_F(WatchSourceTest, alternates_between_watches) {
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

TEST_F(WatchSourceTest, returns_all_of_many_files) {
  constexpr int kCount = 3000;  // more than kMaxReady
  WatchOptions options = options_for(root_);
  options.max_pending = 100;
  options.root_check_interval = std::chrono::hours(1);  // so that this does not wake the thread
  write_many("d", kCount);
  start({{options, {}}});
  Names names;
  for (int i = 0; i < kCount; ++i) names.insert(next_name());
  EXPECT_EQ(names.size(), std::size_t(kCount));
}

TEST_F(WatchSourceTest, returns_an_old_file_at_once) {
  fs::create_symlink("/bin/sh", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.settle_time = 2 * kDeadline;
  options.links = files::LinkPolicy::files;
  start({{options, {}}});
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, finds_files_over_capacity_later) {
  WatchOptions options = options_for(root_);
  options.max_pending = 4;
  start({{options, [done = Names()](const SourceItem& item, const files::FileState&) mutable {
            return done.insert(item.relative).second;
          }}});
  wait_for([&] { return state().is_scan_complete; });
  // Files that arrive whole: one that changes later is filtered again, and this filter accepts a
  // file once.
  Names names;
  for (int i = 0; i < 100; ++i) {
    const std::string name = std::to_string(i) + ".png";
    std::ofstream(folder_.path() / name) << "x";
    fs::rename(folder_.path() / name, root_ / name);
    names.insert(name);
  }
  EXPECT_EQ(take_and_finish(100), names);
}

TEST_F(WatchSourceTest, does_not_return_filtered_files) {
  start({{options_for(root_), [](const SourceItem& item, const files::FileState& state) {
            EXPECT_EQ(state, state_of(item.file));
            return item.relative != "a.png";
          }}});
  write("a.png");
  write("b.png");  // later than a.png
  EXPECT_EQ(next_name(), "b.png");
  wait_for([&] { return state().pending == 0; });
}

TEST_F(WatchSourceTest, returns_no_file_of_an_own_folder_by_any_path) {
  const fs::path outside = folder_.path() / "outside";
  for (const char* folder : {"out", "out/below", "done", "other"}) {
    fs::create_directories(outside / folder);
    std::ofstream(outside / folder / "a.png") << "x";
  }
  fs::create_directory_symlink(outside / "out", root_ / "out");
  fs::create_directory_symlink(outside / "out/below", root_ / "below");
  fs::create_directory_symlink(outside, root_ / "above");
  WatchOptions options = options_for(root_);
  options.links = files::LinkPolicy::all;
  options.own_folders = OwnFolders({outside / "out", outside / "done", outside / "not_there"});
  start({{options, {}}});
  EXPECT_THAT(take_and_finish(1), ElementsAre("above/other/a.png"));
  fs::create_directory_symlink(outside / "done", root_ / "later");
  wait_for([&] { return count_log_lines("later leads to " + (outside / "done").string()) == 1; });
  std::ofstream(outside / "out/b.png") << "x";
  std::ofstream(outside / "done/b.png") << "x";
  write("last.png");
  EXPECT_THAT(take_and_finish(1), ElementsAre("last.png"));
  EXPECT_EQ(count_log_lines("is not scanned"), 5) << "each path once";
}

TEST_F(WatchSourceTest, ends_when_the_filter_throws) {
  start({{options_for(root_), [](const SourceItem&, const files::FileState&) -> bool {
            throw std::runtime_error("no ledger");
          }}});
  write("a.png");
  EXPECT_THROW(next(), std::runtime_error);
}

TEST_F(WatchSourceTest, returns_a_file_changed_in_flight_again_after_it_is_finished) {
  write("a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
  write("a.png", "another");
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
  finish_item("a.png");
  EXPECT_EQ(next_name(), "a.png");
  finish_item("a.png");
  finish_item("b.png");
  wait_for([&] { return state().in_flight == 0; });
  write("c.png");
  EXPECT_EQ(next_name(), "c.png") << "a.png is done";
}

TEST_F(WatchSourceTest, does_not_return_a_deleted_file) {
  WatchOptions options = options_for(root_);
  options.settle_time = std::chrono::milliseconds(200);
  start({{options, {}}});
  write("a.png");
  wait_for([&] { return state().pending == 1; });
  fs::remove(root_ / "a.png");
  wait_for([&] { return state().pending == 0; });
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchSourceTest, forgets_pending_files_below_a_removed_folder) {
  WatchOptions options = options_for(root_);
  options.settle_time = 2 * kDeadline;
  start({{options, {}}});
  for (const char* name : {"d/a.png", "d/e/b.png", "c.png"}) write(name);
  wait_for([&] { return state().pending == 3; });
  fs::rename(root_ / "d", folder_.path() / "archive");
  fs::create_directory_symlink(folder_.path() / "archive", root_ / "d");
  wait_for([&] { return state().pending == 1; });
  EXPECT_EQ(count_log_lines("d was removed or replaced; 2 pending files in it were dropped"), 1);
}

TEST_F(WatchSourceTest, forgets_ready_files_below_a_removed_folder) {
  start();
  for (const char* name : {"d/a.png", "d/b.png", "c.png"}) write(name);
  wait_for([&] { return state().ready == 3; });
  fs::rename(root_ / "d", folder_.path() / "archive");
  fs::create_directory_symlink(folder_.path() / "archive", root_ / "d");
  wait_for([&] { return state().ready == 1; });
  EXPECT_EQ(next_name(), "c.png");
}

TEST_F(WatchSourceTest, skips_what_is_not_a_regular_file) {
  ASSERT_EQ(::mkfifo((root_ / "a.png").c_str(), 0600), 0);
  fs::create_directory(root_ / "b.png");
  fs::create_symlink("nowhere", root_ / "c.png");
  fs::create_symlink("/dev/null", root_ / "d.png");
  start();
  ASSERT_EQ(::mkfifo((root_ / "e.png").c_str(), 0600), 0);
  write("f.png");
  EXPECT_EQ(next_name(), "f.png");
}

TEST_F(WatchSourceTest, finds_files_without_events_by_a_requested_scan) {
  fs::create_symlink(folder_.path() / "target", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.links = files::LinkPolicy::files;
  start({{options, {}}});
  wait_for([&] { return state().is_scan_complete; });
  std::ofstream(folder_.path() / "target") << "x";
  source_->request_scan(0);
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, recovers_from_lost_events) {
  // Shared, because the thread of the watch asks the filter until TearDown().
  const auto busy = std::make_shared<std::mutex>();
  const auto is_asked = std::make_shared<std::atomic<bool>>(false);
  start({{options_for(root_), [=](const SourceItem&, const files::FileState&) {
            *is_asked = true;
            const std::lock_guard lock(*busy);
            return true;
          }}});
  wait_for([&] { return state().is_scan_complete; });
  {
    const std::lock_guard lock(*busy);
    write("a.png");
    wait_for([&] { return is_asked->load(); });
    if (const std::string skip_reason = fill_event_queue(root_); !skip_reason.empty())
      GTEST_SKIP() << skip_reason;
    write("new/lost.png");
  }
  Names names;
  while (!names.contains("new/lost.png")) {
    const std::string name = next_name();
    if (name.empty()) break;
    names.insert(name);
    finish_item(name);
  }
  wait_for([&] { return state().overflows == 1; });
}

TEST_F(WatchSourceTest, scans_fully_and_periodically) {
  fs::create_symlink(folder_.path() / "target", root_ / "a.png");
  WatchOptions options = options_for(root_);
  options.rescan_interval = std::chrono::milliseconds(20);
  options.links = files::LinkPolicy::files;
  start({{options, {}}});
  wait_for([&] { return state().is_scan_complete; });
  std::ofstream(folder_.path() / "target") << "x";
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, retries_an_incomplete_file_until_the_last_attempt) {
  write("a.png");
  start();
  int attempts = 0;
  for (bool last = false; !last; ++attempts) {
    const auto item = next();
    ASSERT_TRUE(item);
    last = item->is_last_attempt;
    EXPECT_EQ(item->attempt, attempts + 1);
    finish_item("a.png", FinishStatus::incomplete);
  }
  EXPECT_GT(attempts, 1);
  wait_for([&] { return state().in_flight == 0 && state().pending == 0; });
}

TEST_F(WatchSourceTest, restarts_the_retry_timeout_of_a_changed_file) {
  write("a.png");
  start();
  while (!next()->is_last_attempt) finish_item("a.png", FinishStatus::incomplete);
  write("a.png", "more");
  finish_item("a.png", FinishStatus::incomplete);
  const auto item = next();
  ASSERT_TRUE(item);
  EXPECT_FALSE(item->is_last_attempt);
  EXPECT_EQ(item->attempt, 1);
}

TEST_F(WatchSourceTest, loses_no_file_on_an_environment_error_and_logs_once) {
  for (const char* name : {"a.png", "b.png", "c.png"}) write(name);
  start();
  const Names first{next_name(), next_name()};
  for (const std::string& name : first) {
    finish_item(name, FinishStatus::environment_error);
    EXPECT_EQ(state().backoff_reason, "why");
  }
  for (int i = 0; i < 3; ++i) finish_item(next_name(), FinishStatus::environment_error);
  EXPECT_EQ(count_log_lines("paused; will retry: why"), 1);
  EXPECT_THAT(take_and_finish(3), ElementsAre("a.png", "b.png", "c.png"));
  EXPECT_EQ(count_log_lines("resumed"), 1);
  EXPECT_EQ(state().backoff_reason, "");
}

TEST_F(WatchSourceTest, asks_the_filter_again_after_an_environment_error) {
  write("a.png");
  const auto asked = std::make_shared<std::atomic<int>>(0);
  start({{options_for(root_), [=](const SourceItem&, const files::FileState&) {
            if (++*asked < 4) throw EnvironmentError("the ledger is locked");
            return true;
          }}});
  EXPECT_EQ(next_name(), "a.png");
  EXPECT_EQ(*asked, 4);
  EXPECT_EQ(count_log_lines("paused; will retry: the ledger is locked"), 1);
  EXPECT_EQ(count_log_lines("resumed"), 1);
  EXPECT_EQ(state().backoff_reason, "");
}

TEST_F(WatchSourceTest, recovers_a_stale_claim) {
  write(".eckart-claim-0123456789abcdef-a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchSourceTest, recovers_a_stale_claim_directory) {
  const std::string name = std::string(251, 'x') + ".png";
  write(".eckart-claim-0123456789abcdef.1/" + name);
  start();
  EXPECT_EQ(next_name(), name);
}

TEST_F(WatchSourceTest, treats_names_as_bytes) {
  const Names names{"new\nline.png", std::string(251, 'x') + ".png", "\xFF\xFE.png"};
  start();
  for (const std::string& name : names) write(name);
  EXPECT_EQ(take_and_finish(3), names);
}

TEST_F(WatchSourceTest, loses_nothing_under_load) {
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
      names.insert(name);  // twice if a scan found it before its event
      finish_item(name);
    }
  }
  EXPECT_EQ(names.size(), 2 * kFolders * kFiles);
}

TEST_F(WatchSourceTest, warns_of_a_dangling_link_if_links_are_ignored) {
  for (const files::LinkPolicy links : {files::LinkPolicy::files, files::LinkPolicy::none}) {
    WatchOptions options = options_for(root_);
    options.links = links;
    start({{options, {}}});
    wait_for([&] { return state().is_scan_complete; });
    fs::create_symlink("nowhere", root_ / "a.png");
    write("b.png");
    EXPECT_EQ(next_name(), "b.png");
    finish_item("b.png");
    EXPECT_EQ(count_log_lines("is a symbolic link and was ignored"),
              links == files::LinkPolicy::none);
    source_.reset();
    fs::remove(root_ / "a.png");
    fs::remove(root_ / "b.png");  // otherwise the next scan finds it before the link
  }
}

/// The path exceeds PATH_MAX, so neither a scan nor an event can access it.
TEST_F(WatchSourceTest, warns_once_of_a_folder_with_too_long_a_path) {
  const std::string name(250, 'd');
  constexpr int kLevels = 20;
  files::FileDescriptor folder(::open(root_.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  for (int i = 0; i < kLevels; ++i) {
    ASSERT_EQ(::mkdirat(folder.get(), name.c_str(), 0700), 0);
    folder = files::FileDescriptor(
        ::openat(folder.get(), name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  write("z/a.png");  // found after the deep folder
  start();
  EXPECT_THAT(take_and_finish(1), ElementsAre("z/a.png"));
  wait_for([&] { return state().is_scan_complete; });
  EXPECT_FALSE(state().is_polling);
  EXPECT_EQ(count_log_lines("cannot be read: File name too long"), 1);
  source_->request_scan(0);
  EXPECT_THAT(take_and_finish(1), ElementsAre("z/a.png"));
  EXPECT_EQ(count_log_lines("File name too long"), 1);
}

}  // namespace
}  // namespace eckart::io
