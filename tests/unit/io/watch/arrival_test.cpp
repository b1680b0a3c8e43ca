// One test for each way in which a file arrives in a folder.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/no_free_descriptors.hpp"
#include "tests/unit/io/watch/inotify_tree_fixture.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class ArrivalTest : public InotifyTreeTest {};

TEST_F(ArrivalTest, is_reported_when_a_file_is_written_and_closed) {
  watch();
  write("a.png");
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
  EXPECT_THAT(arrivals(), IsEmpty()) << "each file is reported once";
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_there_already) {
  write("a.png");
  make("d/e");
  write("d/e/b.png");
  watch();
  EXPECT_THAT(full_scan(), ElementsAre("a.png", "d/e/b.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_written_slowly) {
  watch();
  std::ofstream file(at("a.png"));
  file << "begin" << std::flush;
  EXPECT_THAT(arrivals(), ElementsAre("a.png")) << "after the creation";
  file << "end";
  file.close();
  EXPECT_THAT(arrivals(), ElementsAre("a.png")) << "after the close";
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_moved_in) {
  watch();
  std::ofstream(outside_ / "a.png") << "x";
  fs::rename(outside_ / "a.png", at("a.png"));
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_renamed_within) {
  write("a.png");
  watch();
  move("a.png", "b.png");
  EXPECT_THAT(arrivals(), ElementsAre("b.png"));
  EXPECT_THAT(removed_files_, ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_moved_between_folders) {
  make("d");
  make("e");
  write("d/a.png");
  watch();
  move("d/a.png", "e/a.png");
  EXPECT_THAT(arrivals(), ElementsAre("e/a.png"));
  EXPECT_THAT(removed_files_, ElementsAre("d/a.png"));
}

TEST_F(ArrivalTest, is_reported_for_a_hard_link) {
  watch();
  std::ofstream(outside_ / "a") << "x";
  fs::create_hard_link(outside_ / "a", at("a.png"));
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_for_a_link_to_a_file_if_requested) {
  watch(files::LinkPolicy::files);
  std::ofstream(outside_ / "a") << "x";
  fs::create_symlink(outside_ / "a", at("a.png"));
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
  EXPECT_THAT(full_scan(), testing::Contains("a.png"));
}

TEST_F(ArrivalTest, is_reported_in_a_folder_that_is_moved_in) {
  watch();
  fs::create_directories(outside_ / "d/e");
  std::ofstream(outside_ / "d/a.png") << "x";
  std::ofstream(outside_ / "d/e/b.png") << "x";
  fs::rename(outside_ / "d", at("d"));
  EXPECT_THAT(arrivals(), ElementsAre("d/a.png", "d/e/b.png"));
  write("d/e/later.png");
  EXPECT_THAT(arrivals(), ElementsAre("d/e/later.png"));
}

TEST_F(ArrivalTest, is_reported_in_a_tree_that_is_created_at_once) {
  watch();
  for (const fs::path folder : {"1", "1/2", "1/2/3", "4"}) {
    make(folder);
    write(folder / "a.png");
  }
  EXPECT_THAT(arrivals(), ElementsAre("1/2/3/a.png", "1/2/a.png", "1/a.png", "4/a.png"));
}

TEST_F(ArrivalTest, is_not_reported_in_a_folder_that_was_moved_out) {
  make("d/e");
  watch();
  fs::rename(at("d"), outside_ / "d");
  EXPECT_THAT(arrivals(), IsEmpty());
  EXPECT_EQ(tree_->watch_count(), 1u);
  EXPECT_EQ(kernel_watches(), 1u);
  std::ofstream(outside_ / "d/a.png") << "x";
  std::ofstream(outside_ / "d/e/a.png") << "x";
  EXPECT_THAT(arrivals(), IsEmpty());
}

TEST_F(ArrivalTest, is_reported_under_the_new_path_in_a_folder_that_was_moved) {
  make("d/e");
  write("d/e/a.png");
  watch();
  move("d", "f");
  write("f/e/b.png");
  EXPECT_THAT(arrivals(), ElementsAre("f/e/a.png", "f/e/b.png"));
  write("f/e/c.png");
  EXPECT_THAT(arrivals(), ElementsAre("f/e/c.png"));
  EXPECT_EQ(tree_->watch_count(), 3u);
}

TEST_F(ArrivalTest, is_reported_in_a_folder_that_was_moved_while_it_was_scanned) {
  make("d/e");
  write("d/e/a.png");
  watch();
  scan_->push("d");
  scan_->step(2);  // opens the folder
  move("d", "b");
  write("b/e/b.png");
  EXPECT_THAT(arrivals(), ElementsAre("b/e/a.png", "b/e/b.png"));
  write("b/e/c.png");
  EXPECT_THAT(arrivals(), ElementsAre("b/e/c.png"));
}

TEST_F(ArrivalTest, is_reported_in_a_folder_that_takes_the_place_of_another) {
  make("d");
  make("new");
  write("new/a.png");
  watch();
  fs::remove(at("d"));
  move("new", "d");
  EXPECT_THAT(arrivals(), ElementsAre("d/a.png"));
  write("d/b.png");
  EXPECT_THAT(arrivals(), ElementsAre("d/b.png"));
  EXPECT_EQ(tree_->watch_count(), 2u);
}

TEST_F(ArrivalTest, is_reported_in_a_folder_that_is_created_again) {
  make("d");
  watch();
  for (int i = 0; i < 3; ++i) {
    fs::remove_all(at("d"));
    make("d");
    write("d/a.png");
    EXPECT_THAT(arrivals(), ElementsAre("d/a.png"));
    EXPECT_EQ(tree_->watch_count(), 2u);
  }
}

TEST_F(ArrivalTest, is_not_watched_for_in_deleted_folders) {
  make("d/e");
  watch();
  fs::remove_all(at("d"));
  arrivals();
  EXPECT_EQ(tree_->watch_count(), 1u);
}

TEST_F(ArrivalTest, is_reported_in_folders_that_change_places) {
  make("a");
  make("b");
  write("a/1.png");
  write("b/2.png");
  watch();
  move("a", "c");
  move("b", "a");
  move("c", "b");
  EXPECT_THAT(arrivals(), ElementsAre("a/2.png", "b/1.png"));
  write("a/3.png");
  write("b/4.png");
  EXPECT_THAT(arrivals(), ElementsAre("a/3.png", "b/4.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_touched) {
  write("a.png");
  watch();
  ASSERT_EQ(::utimensat(AT_FDCWD, at("a.png").c_str(), nullptr, 0), 0);
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_for_a_copy_that_keeps_its_time) {
  watch();
  write("a.png");
  const timespec times[] = {{1, 0}, {1, 0}};
  ASSERT_EQ(::utimensat(AT_FDCWD, at("a.png").c_str(), times, 0), 0);
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_replaced_by_a_rename) {
  write("a.png");
  watch();
  write(".a.png.tmp", "new");
  move(".a.png.tmp", "a.png");
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_truncated_and_written_anew) {
  write("a.png", "a long text");
  watch();
  write("a.png", "short");
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_written_in_place) {
  write("a.png", "a long text");
  watch();
  const int file = ::open(at("a.png").c_str(), O_WRONLY);
  ASSERT_EQ(::pwrite(file, "x", 1, 3), 1);
  ::close(file);
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_when_a_file_is_deleted_and_created_again) {
  write("a.png");
  watch();
  fs::remove(at("a.png"));
  write("a.png");
  EXPECT_THAT(arrivals(), ElementsAre("a.png"));
}

TEST_F(ArrivalTest, is_reported_after_a_hidden_or_temporary_name) {
  watch();
  for (const char* name : {".a.png.Xy12", "b.png.part", "c.png.crdownload", "d.tmp"}) write(name);
  EXPECT_THAT(arrivals(), IsEmpty());
  move(".a.png.Xy12", "a.png");
  move("b.png.part", "b.png");
  move("c.png.crdownload", "c.png");
  move("d.tmp", "d.png");
  EXPECT_THAT(arrivals(), ElementsAre("a.png", "b.png", "c.png", "d.png"));
}

TEST_F(ArrivalTest, is_reported_in_a_folder_that_was_hidden_first) {
  make(".d/e");
  write(".d/e/a.png");
  watch();
  EXPECT_EQ(tree_->watch_count(), 1u);
  move(".d", "d");
  EXPECT_THAT(arrivals(), ElementsAre("d/e/a.png"));
  move("d", ".d");
  write(".d/e/b.png");
  EXPECT_THAT(arrivals(), IsEmpty());
  EXPECT_EQ(tree_->watch_count(), 1u);
}

TEST_F(ArrivalTest, is_reported_under_any_name) {
  watch();
  const std::string longest = std::string(251, 'x') + ".png";
  const std::string folder = "\xFF\n";
  make(folder);
  for (const std::string& name :
       {std::string("new\nline.png"), longest, std::string("\xFF\xFE.png"), std::string(" .png"),
        std::string("%s\t\\.JPG")}) {
    write(name);
    write(fs::path(folder) / name);
  }
  const Names names = arrivals();
  EXPECT_EQ(names.size(), 10u);
  for (const std::string& name : names) EXPECT_TRUE(fs::exists(at(name))) << name;
  EXPECT_EQ(full_scan().size(), 10u + 1) << "the files and one cookie";
}

TEST_F(ArrivalTest, is_not_reported_in_a_hidden_or_excluded_folder) {
  make(".eckart");
  make("out/deep");
  make("d/out");
  watch(files::LinkPolicy::none, {"out/"});
  for (const char* name : {".eckart/a.png", "out/a.png", "out/deep/a.png", "d/out/a.png"})
    write(name);
  EXPECT_THAT(arrivals(), ElementsAre("d/out/a.png"));
  move("d/out", "out/moved");
  make("out/new");
  write("out/new/a.png");
  EXPECT_THAT(arrivals(), IsEmpty());
  EXPECT_EQ(tree_->watch_count(), 2u);
}

TEST_F(ArrivalTest, is_reported_in_a_folder_named_like_an_image) {
  watch();
  make("a.png");
  write("a.png/b.png");
  EXPECT_THAT(arrivals(), ElementsAre("a.png/b.png"));
}

TEST_F(ArrivalTest, is_reported_below_a_folder_that_cannot_be_opened_any_more) {
  make("a/b");
  watch();
  {
    const test::NoFreeDescriptors none;
    EXPECT_EQ(tree_->add("a"), InotifyTree::AddResult::unwatched);
  }
  write("a/b/new.png");
  EXPECT_EQ(arrivals(), Names{"a/b/new.png"});
}

}  // namespace
}  // namespace eckart::io
