#include "io/claimed_file.hpp"

#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <string>

#include "core/error.hpp"
#include "io/process_token.hpp"
#include "tests/unit/codec/failure_of.hpp"
#include "tests/unit/io/claimed_file_fixture.hpp"

namespace eckart::io {
namespace {

using test::before_rename;

TEST_F(ClaimedFileTest, is_renamed_while_claimed_and_restored_on_release) {
  const fs::path file = write("a.png", "1");
  {
    const auto claimed = claim("a.png");
    ASSERT_TRUE(claimed);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(file), "1");
}

TEST_F(ClaimedFileTest, does_not_claim_a_changed_file) {
  const fs::path file = write("a.png", "1");
  const FileIdentity before = identity_of(rooted_file("a.png"));
  write("a.png", "another");
  EXPECT_FALSE(ClaimedFile::claim(rooted_file("a.png"), before));
  EXPECT_EQ(read(file), "another");
  fs::remove(file);
  EXPECT_FALSE(ClaimedFile::claim(rooted_file("a.png"), before));
}

TEST_F(ClaimedFileTest, claims_a_file_whose_link_count_changed) {
  const RootedFile file = (write("a.png", "1"), rooted_file("a.png"));
  fs::create_hard_link(folder_.path() / "a.png", folder_.path() / "b.png");
  const FileIdentity before = identity_of(file);
  fs::remove(folder_.path() / "b.png");
  EXPECT_TRUE(ClaimedFile::claim(file, before));
}

TEST_F(ClaimedFileTest, keeps_a_file_that_arrives_meanwhile) {
  const fs::path file = write("a.png", "1");
  auto claimed = claim("a.png");
  write("a.png", "2");
  claimed->remove();
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 1);
}

TEST_F(ClaimedFileTest, is_restored_beside_its_replacement) {
  const fs::path file = write("a.png", "1");
  {
    const auto claimed = claim("a.png");
    write("a.png", "2");
  }
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 2);
}

TEST_F(ClaimedFileTest, moves_to_a_new_folder_and_never_over_a_file) {
  const fs::path to = folder_.path() / "done/deep/a.png";
  for (const char* text : {"1", "2", "3"}) {
    const fs::path file = write("a.png", text);
    claim("a.png")->move_to(*root("done"), "deep/a.png");
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(to), "1");
  EXPECT_EQ(files(), 3);
}

TEST_F(ClaimedFileTest, moves_names_of_any_length_beside_each_other) {
  const std::string name = std::string(251, 'x') + ".png";
  for (int i = 0; i < 2; ++i) {
    write(name, "1");
    claim(name)->move_to(*root("done"), name);
  }
  EXPECT_EQ(files(), 2);
}

/// With a name so long that the name of a claim beside it would exceed NAME_MAX.
class ClaimedFileLongNameTest : public ClaimedFileTest {
 protected:
  std::size_t entries() const {
    return std::size_t(std::distance(fs::directory_iterator(folder_.path()), {}));
  }

  const std::string name_ = std::string(251, 'x') + ".png";
  const fs::path file_ = folder_.path() / name_;
};

TEST_F(ClaimedFileLongNameTest, is_renamed_while_claimed_and_restored_on_release) {
  write(name_, "1");
  {
    const auto claimed = claim(name_);
    ASSERT_TRUE(claimed);
    EXPECT_FALSE(fs::exists(file_));
  }
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ClaimedFileLongNameTest, keeps_a_file_that_arrives_meanwhile) {
  write(name_, "1");
  auto claimed = claim(name_);
  write(name_, "2");
  claimed->remove();
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ClaimedFileLongNameTest, keeps_a_file_that_arrives_during_the_move) {
  write(name_, "1");
  auto claimed = claim(name_);
  write(name_, "2");
  claimed->move_to(*root("done"), name_);
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(read(folder_.path() / "done" / name_), "1");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(ClaimedFileLongNameTest, is_restored_beside_its_replacement) {
  write(name_, "1");
  {
    const auto claimed = claim(name_);
    write(name_, "2");
  }
  EXPECT_EQ(read(file_), "2");
  EXPECT_EQ(files(), 2);
  EXPECT_EQ(entries(), 2u);
}

TEST_F(ClaimedFileLongNameTest, restores_a_file_replaced_just_before_the_claim) {
  write(name_, "1");
  const FileIdentity before = identity_of(rooted_file(name_));
  before_rename = [this] { before_rename = [this] { fs::rename(write("new", "new"), file_); }; };
  EXPECT_FALSE(ClaimedFile::claim(rooted_file(name_), before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(file_), "new");
  EXPECT_EQ(entries(), 1u);
}

TEST_F(ClaimedFileLongNameTest, recovers_the_claim_of_a_killed_process) {
  const std::string hidden = ".eckart-claim-0123456789abcdef.7";
  write(hidden + "/" + name_, "1");
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 1u);
  write(hidden + "/" + name_, "2");  // the file that replaced it stays
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(read(file_), "1");
  EXPECT_EQ(entries(), 2u);
}

TEST_F(ClaimedFileLongNameTest, removes_the_empty_claim_directory_of_a_killed_process) {
  const std::string hidden = ".eckart-claim-0123456789abcdef.7";
  fs::create_directory(folder_.path() / hidden);
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(ClaimedFileLongNameTest, does_not_recover_through_a_link) {
  write("elsewhere/a.png", "theirs");
  fs::create_directory_symlink("elsewhere", folder_.path() / ".eckart-claim-0123456789abcdef.7");
  EXPECT_FALSE(recover(".eckart-claim-0123456789abcdef.7"));
  EXPECT_EQ(read(folder_.path() / "elsewhere/a.png"), "theirs");
}

TEST_F(ClaimedFileLongNameTest, does_not_recover_its_own_claim) {
  write(name_, "1");
  const auto claimed = claim(name_);
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(recover(entry.path().filename().native()));
  EXPECT_FALSE(fs::exists(file_));
}

TEST_F(ClaimedFileTest, recovers_the_claim_of_a_killed_process) {
  const std::string hidden = ".eckart-claim-0123456789abcdef-a-b.png";
  write(hidden, "1");
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  write(hidden, "2");  // the file that replaced it stays
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  EXPECT_EQ(files(), 2);
  EXPECT_FALSE(recover("a-b.png"));
}

/// An exclusive lock on a file is refused while a claim exists.
TEST_F(ClaimedFileTest, reports_why_it_cannot_be_claimed) {
  const fs::path file = write("a.png", "1");
  const std::string begin = "cannot claim " + file.string() + ": ";
  const auto message = [&](int error) -> std::string {
    test::on_rename = [error](const char*) { return error; };
    try {
      return claim("a.png") ? "claimed" : "is missing";
    } catch (const ItemError& failure) {
      EXPECT_EQ(failure.reason(), FailureReason::not_written);
      return failure.what();
    }
  };
  EXPECT_EQ(message(ENOENT), "is missing");
  EXPECT_EQ(message(EACCES), begin + "Permission denied");
  EXPECT_EQ(message(ENOSPC), begin + "No space left on device") << "other files may be claimed";
  EXPECT_EQ(message(ENOTDIR),
            begin + "Not a directory (a parent is a symbolic link or not a folder)");
  EXPECT_THROW(message(EIO), EnvironmentError);
  test::on_rename = {};
  EXPECT_EQ(read(file), "1");
}

/// As on NFS: the system cannot rename without replacing.
TEST_F(ClaimedFileTest, is_claimed_where_no_rename_excludes_replacing) {
  const fs::path file = write("a.png", "1");
  test::on_rename = [](const char*) { return EINVAL; };
  {
    const auto claimed = claim("a.png");
    ASSERT_TRUE(claimed);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(file), "1");
  const fs::path taken = write(".eckart-claim-" + process_token() + "-a.png", "theirs");
  EXPECT_THROW(claim("a.png"), ItemError);
  EXPECT_EQ(read(file), "1");
  EXPECT_EQ(read(taken), "theirs");
}

TEST_F(ClaimedFileTest, keeps_its_claim_name_if_it_cannot_be_restored) {
  const fs::path file = write("a.png", "1");
  {
    const auto claimed = claim("a.png");
    test::on_rename = [](const char*) { return EACCES; };
  }
  EXPECT_FALSE(fs::exists(file));
  EXPECT_EQ(files(), 1);
}

TEST_F(ClaimedFileLongNameTest, leaves_no_directory_if_it_cannot_be_claimed) {
  const fs::path file = write(name_, "1");
  test::on_rename = [&](const char* to) { return to == name_ ? EACCES : 0; };
  EXPECT_THROW(claim(name_), ItemError);
  EXPECT_EQ(read(file), "1");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ClaimedFileTest, reports_why_it_cannot_be_removed) {
  const fs::path file = write("a.png", "1");
  int error = EPERM;
  auto claimed = claim("a.png");
  test::on_unlink = [&](const char*) { return error; };
  const test::CaughtError failure = test::failure_of([&] { claimed->remove(); });
  EXPECT_EQ(failure.reason, FailureReason::not_written);
  EXPECT_EQ(failure.detail, "cannot remove " + file.string() + ": Operation not permitted");
  error = ENOENT;
  EXPECT_NO_THROW(claimed->remove()) << "it is gone already";
}

TEST_F(ClaimedFileTest, moves_any_number_of_files_of_one_name_within_a_second) {
  const RootDirectoryPtr to = root("out");
  for (int i = 0; i < 5; ++i) {
    write("a.png", "1");
    claim("a.png")->move_to(*to, "a.png");
  }
  EXPECT_EQ(files(), 5);
}

TEST_F(ClaimedFileTest, is_locked_until_it_ends) {
  write("a.png", "1");
  auto claimed = claim("a.png");
  ASSERT_TRUE(claimed);
  const files::FileDescriptor claim(
      ::open(fs::directory_iterator(folder_.path())->path().c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_NE(::flock(claim.get(), LOCK_EX | LOCK_NB), 0);
  claimed.reset();
  EXPECT_EQ(::flock(claim.get(), LOCK_EX | LOCK_NB), 0);
}

TEST_F(ClaimedFileTest, leaves_the_claim_of_a_live_process) {
  for (const std::string hidden :
       {".eckart-claim-0123456789abcdef-a.png", ".eckart-claim-0123456789abcdef.7/a.png"}) {
    const fs::path claim = write(hidden, "1");
    files::FileDescriptor owner(::open(claim.c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_EQ(::flock(owner.get(), LOCK_SH), 0);
    const std::string entry = hidden.substr(0, hidden.find('/'));
    EXPECT_FALSE(recover(entry));
    EXPECT_TRUE(fs::exists(claim));
    owner = files::FileDescriptor();
    EXPECT_TRUE(recover(entry));
    EXPECT_EQ(read(folder_.path() / "a.png"), "1");
    fs::remove(folder_.path() / "a.png");
  }
}

TEST_F(ClaimedFileTest, removes_the_second_name_of_an_interrupted_claim) {
  const std::string hidden = ".eckart-claim-0123456789abcdef-a.png";
  fs::create_hard_link(write("a.png", "1"), folder_.path() / hidden);
  EXPECT_TRUE(recover(hidden));
  EXPECT_EQ(read(folder_.path() / "a.png"), "1");
  EXPECT_EQ(files(), 1);
}

TEST_F(ClaimedFileTest, does_not_recover_its_own_claim) {
  const fs::path file = write("a.png", "1");
  const auto claimed = claim("a.png");
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(recover(entry.path().filename().native()));
  EXPECT_FALSE(fs::exists(file));
}

/// The folder of the input and another folder, each with a file of the same name.
class ClaimedFileMovedFolderTest : public ClaimedFileTest {
 protected:
  void SetUp() override {
    write("in/day/a.png", "mine");
    write("archive/a.png", "theirs");
  }
  RootedFile input(files::LinkPolicy links = files::LinkPolicy::none) const {
    return make_rooted_file(folder_.path() / "in", "day/a.png", links);
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  /// Has the effect of `mv in/day archive/day; ln -s ../archive/day in/day`.
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

TEST_F(ClaimedFileMovedFolderTest, does_not_claim_from_a_folder_replaced_by_a_link) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  move_away_and_link();
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(ClaimedFileMovedFolderTest, restores_a_file_whose_folder_moved_just_before_the_claim) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  before_rename = [this] { move_away_and_link(); };
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(ClaimedFileMovedFolderTest, restores_into_its_moved_folder) {
  {
    const auto claimed = io::claim(input());
    ASSERT_TRUE(claimed);
    move_away_and_link();
  }
  EXPECT_EQ(read(at("archive/day/a.png")), "mine");
  EXPECT_EQ(files(), 2);
}

TEST_F(ClaimedFileMovedFolderTest, does_not_claim_through_a_link_exchanged_with_its_folder) {
  fs::create_directory_symlink("archive", at("link"));
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  exchange("in/day", "link");
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  const FileIdentity theirs = identity_of(make_rooted_file(at("archive"), "a.png"));
  EXPECT_FALSE(ClaimedFile::claim(file, theirs)) << "its folder is not that of the input";
  EXPECT_EQ(read(at("archive/a.png")), "theirs");
}

TEST_F(ClaimedFileMovedFolderTest, does_not_claim_the_same_file_from_another_folder) {
  fs::create_directories(at("other"));
  fs::create_hard_link(at("in/day/a.png"), at("other/a.png"));
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  exchange("in/day", "other");
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  EXPECT_EQ(files(), 3);
}

TEST_F(ClaimedFileMovedFolderTest, does_not_claim_below_a_replaced_root) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  fs::rename(at("in"), at("in.old"));
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  fs::create_directories(at("in/day"));
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  EXPECT_EQ(read(at("in.old/day/a.png")), "mine");
}

TEST_F(ClaimedFileMovedFolderTest, restores_a_file_replaced_just_before_the_claim) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  before_rename = [this] { fs::rename(write("in/day/new", "new"), at("in/day/a.png")); };
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  EXPECT_FALSE(before_rename);
  EXPECT_EQ(read(at("in/day/a.png")), "new");
  EXPECT_EQ(files(), 2);
}

TEST_F(ClaimedFileMovedFolderTest, does_not_claim_a_link_where_links_are_not_followed) {
  const RootedFile file = input();
  const FileIdentity before = identity_of(file);
  fs::rename(at("in/day/a.png"), at("archive/b.png"));
  fs::create_symlink(at("archive/b.png"), at("in/day/a.png"));
  EXPECT_FALSE(ClaimedFile::claim(file, before));
  before_rename = {};
  EXPECT_TRUE(fs::is_symlink(at("in/day/a.png")));
  EXPECT_EQ(read(at("archive/b.png")), "mine");
}

TEST_F(ClaimedFileMovedFolderTest, removes_or_moves_a_link_but_not_its_target) {
  fs::create_symlink(at("archive/a.png"), at("in/day/link.png"));
  fs::create_symlink(at("archive/a.png"), at("in/day/moved.png"));
  io::claim(make_rooted_file(at("in"), "day/link.png", files::LinkPolicy::files))->remove();
  io::claim(make_rooted_file(at("in"), "day/moved.png", files::LinkPolicy::files))
      ->move_to(*root("done"), "moved.png");
  EXPECT_FALSE(fs::is_symlink(at("in/day/link.png")));
  EXPECT_TRUE(fs::is_symlink(at("done/moved.png")));
  EXPECT_EQ(read(at("archive/a.png")), "theirs");
}

TEST_F(ClaimedFileMovedFolderTest, does_not_move_through_a_link_below_the_other_root) {
  fs::create_directory_symlink(at("archive"), root("done")->path() / "day");
  {
    auto claimed = io::claim(input());
    EXPECT_THROW(claimed->move_to(*root("done"), "day/b.png"), ItemError);
  }
  EXPECT_FALSE(fs::exists(at("archive/b.png")));
  EXPECT_EQ(read(at("in/day/a.png")), "mine");
}

}  // namespace
}  // namespace eckart::io
