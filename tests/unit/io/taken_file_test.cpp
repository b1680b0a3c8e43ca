#include "io/taken_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "core/error.hpp"
#include "tests/unit/io/taken_file_fixture.hpp"

namespace eckart::io {
namespace {

using test::before_rename;

TEST_F(TakenFileTest, is_hidden_while_it_is_taken_and_comes_back) {
  const fs::path file = write("a.png", "1");
  {
    const auto taken = take("a.png");
    ASSERT_TRUE(taken);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(file), "1");
}

TEST_F(TakenFileTest, is_not_taken_where_it_is_not_as_it_was) {
  const fs::path file = write("a.png", "1");
  const FileIdentity before = identity_of(found("a.png"));
  write("a.png", "another");
  EXPECT_FALSE(TakenFile::take(found("a.png"), before));
  EXPECT_EQ(read(file), "another");
  fs::remove(file);
  EXPECT_FALSE(TakenFile::take(found("a.png"), before));
}

TEST_F(TakenFileTest, is_taken_though_another_name_of_it_has_gone_since_it_was_read) {
  const RootedFile file = (write("a.png", "1"), found("a.png"));
  fs::create_hard_link(folder_.path() / "a.png", folder_.path() / "b.png");
  const FileIdentity before = identity_of(file);
  fs::remove(folder_.path() / "b.png");
  EXPECT_TRUE(TakenFile::take(file, before));
}

TEST_F(TakenFileTest, leaves_alone_what_arrives_meanwhile) {
  const fs::path file = write("a.png", "1");
  auto taken = take("a.png");
  write("a.png", "2");
  taken->remove();
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 1);
}

TEST_F(TakenFileTest, comes_back_beside_what_replaced_it) {
  const fs::path file = write("a.png", "1");
  {
    const auto taken = take("a.png");
    write("a.png", "2");
  }
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileTest, moves_to_a_folder_that_is_made_and_never_over_a_file) {
  const fs::path to = folder_.path() / "done/deep/a.png";
  for (const char* text : {"1", "2", "3"}) {
    const fs::path file = write("a.png", text);
    take("a.png")->move_to(*root("done"), "deep/a.png");
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(to), "1");
  EXPECT_EQ(files(), 3);
}

TEST_F(TakenFileTest, moves_names_of_any_length_beside_each_other) {
  const std::string name = std::string(251, 'x') + ".png";
  for (int i = 0; i < 2; ++i) {
    write(name, "1");
    take(name)->move_to(*root("done"), name);
  }
  EXPECT_EQ(files(), 2);
}

/// A name that leaves no room for a hidden one beside it.
class TakenFileOfLongName : public TakenFileTest {
 protected:
  std::size_t entries() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  const std::string name_ = std::string(251, 'x') + ".png";
  const fs::path file_ = folder_.path() / name_;
};

TEST_F(TakenFileOfLongName, is_hidden_while_it_is_taken_and_comes_back) {
  write(name_, "1");
  {
    const auto taken = take(name_);
    ASSERT_TRUE(taken);
    EXPECT_FALSE(fs::exists(file_));
  }
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TakenFileOfLongName, leaves_alone_what_arrives_meanwhile) {
  write(name_, "1");
  auto taken = take(name_);
  write(name_, "2");
  taken->remove();
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TakenFileOfLongName, leaves_alone_what_arrives_while_it_moves) {
  write(name_, "1");
  auto taken = take(name_);
  write(name_, "2");
  taken->move_to(*root("done"), name_);
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(read(folder_.path() / "done" / name_), "1");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(TakenFileOfLongName, comes_back_beside_what_replaced_it) {
  write(name_, "1");
  {
    const auto taken = take(name_);
    write(name_, "2");
  }
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(TakenFileOfLongName, goes_back_where_it_is_replaced_just_before_it_is_taken) {
  write(name_, "1");
  const FileIdentity before = identity_of(found(name_));
  before_rename = [this] { before_rename = [this] { fs::rename(write("new", "new"), file_); }; };
  EXPECT_FALSE(TakenFile::take(found(name_), before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(file_), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(TakenFileOfLongName, is_restored_where_a_killed_process_had_taken_it) {
  const std::string hidden = ".eckart-taken-0123456789abcdef.7";
  write(hidden + "/" + name_, "1");
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 1u);
  write(hidden + "/" + name_, "2");  // and what replaced it meanwhile stays
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(TakenFileOfLongName, leaves_no_hidden_directory_behind_where_it_was_killed) {
  const std::string hidden = ".eckart-taken-0123456789abcdef.7";
  fs::create_directory(folder_.path() / hidden);
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(TakenFileOfLongName, is_not_restored_through_a_link) {
  write("elsewhere/a.png", "theirs");
  fs::create_directory_symlink("elsewhere", folder_.path() / ".eckart-taken-0123456789abcdef.7");
  EXPECT_FALSE(restore(".eckart-taken-0123456789abcdef.7"));
  EXPECT_EQ(read(folder_.path() / "elsewhere/a.png"), "theirs");
}

TEST_F(TakenFileOfLongName, is_not_restored_while_this_process_has_it) {
  write(name_, "1");
  const auto taken = take(name_);
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(restore(entry.path().filename().native()));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(TakenFileTest, what_a_killed_process_had_taken_is_restored) {
  const std::string hidden = ".eckart-taken-0123456789abcdef-a-b.png";
  write(hidden, "1");
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  write(hidden, "2");  // and what replaced it meanwhile stays
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  EXPECT_EQ(files(), 2);
  EXPECT_FALSE(restore("a-b.png"));
}

TEST_F(TakenFileTest, one_file_that_was_left_with_both_names_has_one_again) {
  const std::string hidden = ".eckart-taken-0123456789abcdef-a.png";
  fs::create_hard_link(write("a.png", "1"), folder_.path() / hidden);
  EXPECT_TRUE(restore(hidden));
  EXPECT_EQ(read(folder_.path() / "a.png"), "1");
  EXPECT_EQ(files(), 1);
}

TEST_F(TakenFileTest, what_this_process_has_taken_is_not_restored) {
  const fs::path file = write("a.png", "1");
  const auto taken = take("a.png");
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(restore(entry.path().filename().native()));
  EXPECT_FALSE(fs::exists(file));
}

/// A folder of the input, and one of somebody else's, each with a file of one name.
class TakenFileElsewhere : public TakenFileTest {
 protected:
  void SetUp() override {
    write("in/day/a.png", "mine");
    write("archive/a.png", "theirs");
  }
  RootedFile input(Links links = Links::none) const {
    return rooted(folder_.path() / "in", "day/a.png", links);
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  /// As `mv in/day archive/day; ln -s ../archive/day in/day` does.
  void move_away_and_link() const {
    fs::rename(at("in/day"), at("archive/day"));
    fs::create_directory_symlink("../archive/day", at("in/day"));
  }
  void exchange(const fs::path& a, const fs::path& b) const {
    ASSERT_EQ(
        ::syscall(SYS_renameat2, AT_FDCWD, at(a).c_str(), AT_FDCWD, at(b).c_str(), RENAME_EXCHANGE),
        0);
  }
};

TEST_F(TakenFileElsewhere, is_not_taken_from_a_folder_that_was_moved_away_and_linked) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  move_away_and_link();
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileElsewhere, goes_back_where_its_folder_is_moved_away_just_before_it_is_taken) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  before_rename = [this] { move_away_and_link(); };
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileElsewhere, goes_back_to_its_own_folder_wherever_that_is_by_then) {
  {
    const auto taken = io::take(input());
    ASSERT_TRUE(taken);
    move_away_and_link();
  }
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileElsewhere, is_not_taken_through_a_link_that_its_folder_was_exchanged_with) {
  fs::create_directory_symlink("archive", at("link"));
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  exchange("in/day", "link");
  EXPECT_FALSE(TakenFile::take(file, before));
  const FileIdentity theirs = identity_of(rooted(at("archive"), "a.png"));
  EXPECT_FALSE(TakenFile::take(file, theirs)) << "whatever was read";
  EXPECT_EQ(read(at("archive/a.png")), "theirs");
}

TEST_F(TakenFileElsewhere, is_not_taken_from_another_folder_though_it_is_the_same_file) {
  fs::create_directories(at("other"));
  fs::create_hard_link(at("in/day/a.png"), at("other/a.png"));
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  exchange("in/day", "other");
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_EQ(files(), 3);
}

TEST_F(TakenFileElsewhere, is_not_taken_where_the_root_is_another_folder) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  fs::rename(at("in"), at("in.old"));
  EXPECT_FALSE(TakenFile::take(file, before));
  fs::create_directories(at("in/day"));
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_EQ(read(at("in.old/day/a.png")), "mine");
}

TEST_F(TakenFileElsewhere, goes_back_where_it_is_replaced_just_before_it_is_taken) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  before_rename = [this] { fs::rename(write("in/day/new", "new"), at("in/day/a.png")); };
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(at("in/day/a.png")), "new");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileElsewhere, is_not_taken_as_a_link_to_the_very_file_where_none_are_followed) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  fs::rename(at("in/day/a.png"), at("archive/b.png"));
  fs::create_symlink(at("archive/b.png"), at("in/day/a.png"));
  EXPECT_FALSE(TakenFile::take(file, before));
  before_rename = {};
  EXPECT_TRUE(fs::is_symlink(at("in/day/a.png")));
  EXPECT_EQ(read(at("archive/b.png")), "mine");
}

TEST_F(TakenFileElsewhere, a_link_goes_and_what_it_leads_to_stays) {
  fs::create_symlink(at("archive/a.png"), at("in/day/link.png"));
  fs::create_symlink(at("archive/a.png"), at("in/day/moved.png"));
  io::take(rooted(at("in"), "day/link.png", Links::files))->remove();
  io::take(rooted(at("in"), "day/moved.png", Links::files))->move_to(*root("done"), "moved.png");
  EXPECT_FALSE(fs::is_symlink(at("in/day/link.png")));
  EXPECT_TRUE(fs::is_symlink(at("done/moved.png")));
  EXPECT_EQ(read(at("archive/a.png")), "theirs");
}

TEST_F(TakenFileElsewhere, does_not_move_through_a_link_below_the_other_root) {
  fs::create_directory_symlink(at("archive"), root("done")->path() / "day");
  {
    auto taken = io::take(input());
    EXPECT_THROW(taken->move_to(*root("done"), "day/b.png"), ItemError);
  }
  EXPECT_FALSE(fs::exists(at("archive/b.png")));
  EXPECT_EQ(read(at("in/day/a.png")), "mine");
}

}  // namespace
}  // namespace eckart::io
