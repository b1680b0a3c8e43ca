// A root that is missing, appears, disappears, and is replaced.
#include "io/watch/watched_root.hpp"

#include <fcntl.h>
#include <stdio.h>

#include "tests/support/no_free_descriptors.hpp"
#include "tests/unit/io/watch/watch_source_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using testing::SizeIs;

class WatchedRootTest : public WatchSourceFixture {
 protected:
  const fs::path moved_root_ = folder_.path() / "moved_root";
};

TEST_F(WatchedRootTest, waits_for_a_missing_root) {
  fs::remove(root_);
  start();
  wait_for([&] {
    return count_log_lines(
               "the folder is not available; waiting for it: No such file or directory") == 1;
  });
  EXPECT_FALSE(state().is_root_present);
  write("a.png");
  EXPECT_EQ(next_name(), "a.png");
  EXPECT_EQ(count_log_lines("the folder is available again and is watched"), 1);
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchedRootTest, treats_a_file_as_a_missing_root) {
  fs::remove(root_);
  std::ofstream(root_) << "x";
  start();
  wait_for([&] {
    return count_log_lines("the folder is not available; waiting for it: Not a directory") == 1;
  });
  fs::remove(root_);
  write("a.png");
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchedRootTest, stops_watching_a_moved_root) {
  write("d/a.png");
  start();
  EXPECT_EQ(next_name(), "d/a.png");
  fs::rename(root_, moved_root_);
  wait_for([&] {
    return count_log_lines(
               "the folder is not available; waiting for it: No such file or directory") == 1;
  });
  std::ofstream(moved_root_ / "no.png") << "x";
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
  EXPECT_EQ(
      count_log_lines("the folder is not available; waiting for it: No such file or directory"), 1);
}

TEST_F(WatchedRootTest, watches_a_replaced_root) {
  write("a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
  fs::create_directory(moved_root_);
  std::ofstream(moved_root_ / "a.png") << "another";
  std::ofstream(moved_root_ / "b.png") << "x";
  ASSERT_EQ(::renameat2(AT_FDCWD, moved_root_.c_str(), AT_FDCWD, root_.c_str(), RENAME_EXCHANGE),
            0);
  EXPECT_EQ(next_name(), "b.png");
  EXPECT_EQ(count_log_lines("the folder was moved, replaced or unmounted; waiting for it"), 1);
  finish_item("a.png");
  EXPECT_EQ(next_name(), "a.png") << "is another file";
  write("c.png");
  EXPECT_EQ(next_name(), "c.png");
}

TEST_F(WatchedRootTest, drops_ready_files_of_a_missing_root) {
  write("a.png");
  write("b.png");
  start();
  wait_for([&] { return state().ready == 2; });
  fs::rename(root_, moved_root_);
  wait_for([&] { return !state().is_root_present; });
  EXPECT_EQ(state().ready, 0u);
}

TEST_F(WatchedRootTest, misses_nothing_of_a_root_moved_away_and_back) {
  start();
  wait_for([&] { return state().is_scan_complete; });
  fs::rename(root_, moved_root_);
  std::ofstream(moved_root_ / "a.png") << "x";
  fs::rename(moved_root_, root_);
  EXPECT_EQ(next_name(), "a.png");
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchedRootTest, finds_a_root_that_is_recreated) {
  start();
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i) + ".png";
    write(name);
    EXPECT_THAT(take_and_finish(1), ElementsAre(name));
    fs::remove_all(root_);
  }
}

TEST_F(WatchedRootTest, watches_the_target_of_a_link_until_it_has_another) {
  const fs::path other = folder_.path() / "other", link = folder_.path() / "new";
  const auto lead_to = [&](const fs::path& target) {
    fs::create_directory_symlink(target, link);
    fs::rename(link, root_);
  };
  fs::rename(root_, moved_root_);
  lead_to(moved_root_);
  start();
  std::ofstream(moved_root_ / "a.png") << "x";
  EXPECT_EQ(next_name(), "a.png");
  fs::create_directory(other);
  std::ofstream(other / "b.png") << "x";
  lead_to(other);
  wait_for([&] { return !state().is_root_present; });
  EXPECT_EQ(count_log_lines("reload the configuration to follow it"), 1);
  lead_to(moved_root_);
  std::ofstream(moved_root_ / "c.png") << "x";
  EXPECT_EQ(next_name(), "c.png");
}

/// With one free descriptor it can be opened, but not listed.
TEST_F(WatchedRootTest, misses_no_file_in_a_folder_when_a_scan_cannot_list_the_root) {
  fs::create_directory(root_ / "d");
  const WatchOptions options = options_for(root_);
  const PathFilter path_filter(options);
  ReadyQueue ready_queue(options);
  UnreadTracker unread_tracker(kDeadline);
  std::string log;
  WatchedRoot root(RootDirectory::open(fs::canonical(root_)), options, path_filter, ready_queue,
                   unread_tracker, [&](Severity, const std::string& what) { log += what + '\n'; });
  root.scan();
  root.request_scan();
  {
    const test::OneFreeDescriptor one;
    root.scan();
  }
  EXPECT_THAT(log, HasSubstr("it cannot be read: Too many open files"));
  write("d/a.png");
  root.read_events();
  EXPECT_TRUE(root.has_pending());
}

/// A scan does not count it either. A file that is added during a scan may count twice, so the scan
/// of the start ends first.
TEST_F(WatchedRootTest, does_not_count_a_new_link_to_a_folder_as_a_file) {
  fs::create_directory(moved_root_);
  start();
  wait_for([&] { return state().is_scan_complete; });
  fs::create_directory_symlink(moved_root_, root_ / "link");
  write("notes.txt");
  const auto counts = [&] { return state().unread_files.by_extension(); };
  wait_for([&] { return testing::Value(counts(), Contains(Pair(".txt", 1))); });
  EXPECT_THAT(counts(), SizeIs(1));
}

TEST_F(WatchedRootTest, is_named_again_when_it_is_missing_for_another_reason) {
  start();
  fs::rename(root_, moved_root_);
  wait_for([&] { return count_log_lines("No such file or directory") == 1; });
  fs::create_directory_symlink(moved_root_, root_);
  wait_for([&] { return count_log_lines("reload the configuration to follow it") == 1; });
}

}  // namespace
}  // namespace eckart::io
