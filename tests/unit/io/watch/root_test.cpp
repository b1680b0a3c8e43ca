// A root that is missing, comes, goes, and is replaced.
#include <fcntl.h>
#include <stdio.h>

#include "tests/unit/io/watch/source_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class WatchedRootTest : public WatchSourceFixture {
 protected:
  const fs::path aside_ = folder_.path() / "aside";
};

TEST_F(WatchedRootTest, that_is_missing_is_waited_for) {
  fs::remove(root_);
  start();
  wait_for([&] { return told("is waited for: No such file or directory") == 1; });
  EXPECT_FALSE(state().root_is_there);
  write("a.png");
  EXPECT_EQ(next_name(), "a.png");
  EXPECT_EQ(told("is there, and is watched"), 1);
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchedRootTest, that_is_no_folder_is_missing) {
  fs::remove(root_);
  std::ofstream(root_) << "x";
  start();
  wait_for([&] { return told("is waited for: Not a directory") == 1; });
  fs::remove(root_);
  write("a.png");
  EXPECT_EQ(next_name(), "a.png");
}

TEST_F(WatchedRootTest, that_is_moved_away_is_watched_no_more_and_waited_for) {
  write("d/a.png");
  start();
  EXPECT_EQ(next_name(), "d/a.png");
  fs::rename(root_, aside_);
  wait_for([&] { return !state().root_is_there; });
  std::ofstream(aside_ / "no.png") << "x";
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
  EXPECT_EQ(told("is gone: No such file or directory"), 1);
}

TEST_F(WatchedRootTest, that_is_replaced_is_watched_anew) {
  write("a.png");
  start();
  EXPECT_EQ(next_name(), "a.png");
  fs::create_directory(aside_);
  std::ofstream(aside_ / "a.png") << "another";
  std::ofstream(aside_ / "b.png") << "x";
  ASSERT_EQ(::renameat2(AT_FDCWD, aside_.c_str(), AT_FDCWD, root_.c_str(), RENAME_EXCHANGE), 0);
  EXPECT_EQ(next_name(), "b.png");
  EXPECT_EQ(told("was moved, replaced or unmounted"), 1);
  finish("a.png");
  EXPECT_EQ(next_name(), "a.png") << "is another file";
  write("c.png");
  EXPECT_EQ(next_name(), "c.png");
}

TEST_F(WatchedRootTest, that_is_gone_has_nothing_ready) {
  write("a.png");
  write("b.png");
  start();
  wait_for([&] { return state().ready == 2; });
  fs::rename(root_, aside_);
  wait_for([&] { return !state().root_is_there; });
  EXPECT_EQ(state().ready, 0u);
}

TEST_F(WatchedRootTest, that_is_moved_away_and_back_misses_nothing) {
  start();
  wait_for([&] { return state().scanned; });
  fs::rename(root_, aside_);
  std::ofstream(aside_ / "a.png") << "x";
  fs::rename(aside_, root_);
  EXPECT_EQ(next_name(), "a.png");
  write("b.png");
  EXPECT_EQ(next_name(), "b.png");
}

TEST_F(WatchedRootTest, that_is_deleted_and_made_again_is_found_each_time) {
  start();
  for (int i = 0; i < 5; ++i) {
    const std::string name = std::to_string(i) + ".png";
    write(name);
    EXPECT_THAT(take(1), ElementsAre(name));
    fs::remove_all(root_);
  }
}

TEST_F(WatchedRootTest, that_is_a_link_is_watched_where_it_leads) {
  fs::rename(root_, aside_);
  fs::create_directory_symlink(aside_, root_);
  start();
  std::ofstream(aside_ / "a.png") << "x";
  EXPECT_EQ(next_name(), "a.png");
  fs::create_directory(folder_.path() / "other");
  std::ofstream(folder_.path() / "other/b.png") << "x";
  fs::create_directory_symlink(folder_.path() / "other", folder_.path() / "new");
  fs::rename(folder_.path() / "new", root_);
  EXPECT_EQ(next_name(), "b.png");
}

}  // namespace
}  // namespace eckart::io
