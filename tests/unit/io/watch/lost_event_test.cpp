// Files that are found although no event reports them.
#include <fstream>

#include "tests/unit/io/watch/fill_event_queue.hpp"
#include "tests/unit/io/watch/inotify_tree_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;

class LostEventTest : public InotifyTreeTest {
 protected:
  /// Reads the whole event queue.
  void read_the_overflow() {
    arrivals();
    EXPECT_TRUE(overflow_);
  }
};

TEST_F(LostEventTest, is_recovered_by_a_scan_of_files_and_folders) {
  make("d");
  watch();
  if (const std::string skip_reason = fill_event_queue(root_); !skip_reason.empty())
    GTEST_SKIP() << skip_reason;
  write("a.png");
  make("new/deep");
  write("new/deep/b.png");
  write("d/c.png");
  read_the_overflow();
  EXPECT_THAT(full_scan(), IsSupersetOf({"a.png", "new/deep/b.png", "d/c.png"}));
  write("new/deep/later.png");
  EXPECT_THAT(arrivals(), ElementsAre("new/deep/later.png"));
}

TEST_F(LostEventTest, is_recovered_by_a_scan_of_a_folder_that_was_moved) {
  make("d/e");
  write("d/e/a.png");
  watch();
  if (const std::string skip_reason = fill_event_queue(root_); !skip_reason.empty())
    GTEST_SKIP() << skip_reason;
  move("d", "b");
  read_the_overflow();
  EXPECT_THAT(full_scan(), testing::Contains("b/e/a.png"));
  write("b/e/later.png");
  EXPECT_THAT(arrivals(), ElementsAre("b/e/later.png"));
  EXPECT_EQ(tree_->watch_count(), 3u);
}

TEST_F(LostEventTest, is_recovered_by_a_scan_of_folders_that_changed_places) {
  make("a/e");
  make("b");
  write("a/1.png");
  write("b/2.png");
  watch();
  if (const std::string skip_reason = fill_event_queue(root_); !skip_reason.empty())
    GTEST_SKIP() << skip_reason;
  move("a", "c");
  move("b", "a");
  move("c", "b");
  read_the_overflow();
  EXPECT_THAT(full_scan(), IsSupersetOf({"a/2.png", "b/1.png"}));
  write("a/3.png");
  write("b/e/4.png");
  EXPECT_THAT(arrivals(), ElementsAre("a/3.png", "b/e/4.png"));
  EXPECT_EQ(tree_->watch_count(), 4u);
}

TEST_F(LostEventTest, is_recovered_by_a_scan_of_recreated_and_removed_folders) {
  make("d/e");
  make("gone/deep");
  make("out");
  watch();
  if (const std::string skip_reason = fill_event_queue(root_); !skip_reason.empty())
    GTEST_SKIP() << skip_reason;
  fs::remove_all(at("d"));
  make("d/e");
  fs::remove_all(at("gone"));
  fs::rename(at("out"), outside_ / "out");
  read_the_overflow();
  EXPECT_THAT(full_scan(), testing::Not(IsEmpty()));
  EXPECT_EQ(tree_->watch_count(), 3u);
  write("d/e/later.png");
  std::ofstream(outside_ / "out/no.png") << "x";
  EXPECT_THAT(arrivals(), ElementsAre("d/e/later.png"));
}

}  // namespace
}  // namespace eckart::io
