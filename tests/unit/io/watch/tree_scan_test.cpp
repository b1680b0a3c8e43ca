#include "io/watch/tree_scan.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tests/unit/io/watch/inotify_tree_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class TreeScanTest : public InotifyTreeTest {
 protected:
  Names names_of(std::size_t step) {
    Names names;
    while (!scan_->is_done()) {
      for (std::string& name : scan_->step(step)) names.insert(std::move(name));
    }
    return names;
  }
};

TEST_F(TreeScanTest, returns_files_and_links_that_are_named_like_images) {
  for (const char* name : {"a.png", "b.JPG", "c.txt", "png", ".d.png", "e.png~"}) write(name);
  fs::create_symlink("a.png", at("link.png"));
  fs::create_symlink("nowhere", at("dangling.png"));
  make("folder.png");
  ASSERT_EQ(::mkfifo(at("fifo.png").c_str(), 0600), 0);
  watch();
  EXPECT_THAT(full_scan(), ElementsAre("a.png", "b.JPG"));
  EXPECT_THAT(ignored_, ElementsAre("dangling.png", "link.png"));
  watch(files::LinkPolicy::files);
  EXPECT_THAT(full_scan(), ElementsAre("a.png", "b.JPG", "dangling.png", "link.png"));
}

TEST_F(TreeScanTest, resumes_where_it_was_suspended) {
  for (int d = 0; d < 5; ++d) {
    make(std::to_string(d));
    for (int i = 0; i < 20; ++i) write(std::to_string(d) + "/" + std::to_string(i) + ".png");
  }
  watch();
  for (const std::size_t step : {1u, 7u, 1000u}) {
    scan_->push({});
    EXPECT_LE(scan_->step(step).size(), step);
    EXPECT_FALSE(step < 100 && scan_->is_done());
    scan_->push({});
    EXPECT_EQ(names_of(step).size(), 100u);
  }
}

TEST_F(TreeScanTest, lists_a_folder_again_that_is_pushed_while_it_is_listed) {
  make("d");
  write("d/a.png");
  watch();
  scan_->push("d");
  EXPECT_THAT(scan_->step(4), ElementsAre("d/a.png")) << "reads . and .. too";
  scan_->push("d");
  EXPECT_THAT(names_of(10), ElementsAre("d/a.png"));
}

TEST_F(TreeScanTest, enters_a_folder_before_it_lists_it) {
  watch();
  TreeScan scan(
      *path_filter_, RootDirectory::open(root_),
      [this](const std::string& folder) {
        write(folder + "/just_now.png");
        return true;
      },
      [](const std::string&, int) {});
  make("d");
  scan.push("d");
  EXPECT_THAT(scan.step(10), ElementsAre("d/just_now.png"));
}

TEST_F(TreeScanTest, skips_a_removed_folder) {
  make("d/e");
  watch();
  scan_->push({});
  scan_->push("none");
  scan_->step(1);
  fs::remove_all(at("d"));
  EXPECT_THAT(names_of(1), IsEmpty());
  EXPECT_THAT(unreadable_, IsEmpty());
}

TEST_F(TreeScanTest, reports_an_unreadable_folder) {
  make("d");
  write("a.png");
  fs::permissions(at("d"), fs::perms::none);
  fs::permissions(folder_.path(), fs::perms::all);
  const bool becomes_nobody = ::geteuid() != 0 || ::seteuid(65534) == 0;
  watch();
  EXPECT_THAT(full_scan(), ElementsAre("a.png"));
  (void)!::seteuid(::getuid());
  if (!becomes_nobody) GTEST_SKIP() << "root may read everything, and cannot switch to user nobody";
  EXPECT_THAT(unreadable_, ElementsAre("d"));

  write("d/b.png");
  fs::permissions(at("d"), fs::perms::owner_all);
  EXPECT_THAT(arrivals(), ElementsAre("d/b.png")) << "after it became readable";
}

TEST_F(TreeScanTest, keeps_watching_below_a_folder_that_becomes_unreadable) {
  make("d/e");
  fs::permissions(folder_.path(), fs::perms::all);
  watch();
  fs::permissions(at("d"), fs::perms::owner_exec | fs::perms::others_exec);
  EXPECT_THAT(arrivals(), IsEmpty()) << "the change of permissions is no news later";
  const bool becomes_nobody = ::geteuid() != 0 || ::seteuid(65534) == 0;
  full_scan();
  (void)!::seteuid(::getuid());
  if (!becomes_nobody) GTEST_SKIP() << "root may read everything, and cannot switch to user nobody";
  EXPECT_THAT(unreadable_, ElementsAre("d"));
  write("d/e/a.png");
  EXPECT_THAT(arrivals(), ElementsAre("d/e/a.png"));
  fs::permissions(at("d"), fs::perms::owner_all);
}

}  // namespace
}  // namespace eckart::io
