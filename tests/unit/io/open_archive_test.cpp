#include "io/open_archive.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "io/input_file.hpp"
#include "io/read_file.hpp"
#include "tests/support/tar_bytes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::tar_end;
using test::tar_file;
using testing::HasSubstr;

class OpenArchiveTest : public testing::Test {
 protected:
  void write(const std::string& bytes) const { std::ofstream(archive_, std::ios::binary) << bytes; }
  /// Writes another archive, which replaces the first.
  void replace(const std::string& bytes) const {
    std::ofstream(folder_.path() / "new", std::ios::binary) << bytes;
    fs::rename(folder_.path() / "new", archive_);
  }
  static std::string read(const fs::path& file) try {
    const std::vector<std::byte> bytes = read_file(file, 1);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  } catch (const ItemError& error) {
    return std::string("error: ") + error.what();
  }

  const test::TempFolder folder_;
  const fs::path archive_ = folder_.path() / "a.tar";
};

TEST_F(OpenArchiveTest, gives_the_bytes_of_a_member) {
  write(tar_file("d/a.png", "one") + tar_file("b.png", "two") + tar_end());
  EXPECT_EQ(read(archive_ / "d/a.png"), "one");
  EXPECT_EQ(read(archive_ / "b.png"), "two");
  EXPECT_EQ(read(archive_ / "none.png"), "error: no such file in the archive " + archive_.string());
  EXPECT_EQ(read(archive_ / "d"), "error: no such file in the archive " + archive_.string());
  EXPECT_EQ(read(folder_.path() / "none.tar" / "a.png"), "error: no such file");
}

TEST_F(OpenArchiveTest, ends_a_member_at_its_size) {
  write(tar_file("a.png", "0123456789") + tar_file("b.png", "two") + tar_end());
  const InputFile file(archive_ / "a.png");
  EXPECT_TRUE(file.is_member());
  EXPECT_EQ(file.size(), 10);
  std::string bytes(100, '\0');
  EXPECT_EQ(file.read_at(7, std::as_writable_bytes(std::span(bytes))), 3u);
  EXPECT_EQ(bytes.substr(0, 3), "789");
  EXPECT_EQ(file.read_at(10, std::as_writable_bytes(std::span(bytes))), 0u);
  EXPECT_EQ(file.read_at(11, std::as_writable_bytes(std::span(bytes))), 0u);
}

TEST_F(OpenArchiveTest, gives_the_bytes_of_the_archive_that_is_there_now) {
  write(tar_file("a.png", "old") + tar_end());
  const InputFile old(archive_ / "a.png");
  const files::FileState old_state = state_of(archive_ / "a.png");
  replace(tar_file("first.png", "other") + tar_file("a.png", "new") + tar_end());
  EXPECT_EQ(read(archive_ / "a.png"), "new");
  EXPECT_NE(state_of(archive_ / "a.png"), old_state);
  std::string bytes(3, '\0');
  old.read_at(0, std::as_writable_bytes(std::span(bytes)));
  EXPECT_EQ(bytes, "old") << "an open file stays the same";
}

TEST_F(OpenArchiveTest, gives_members_of_one_size_different_states) {
  write(tar_file("a.png", "one") + tar_file("b.png", "two") + tar_end());
  EXPECT_EQ(state_of(archive_ / "a.png"), state_of(archive_ / "a.png"));
  EXPECT_NE(state_of(archive_ / "a.png"), state_of(archive_ / "b.png"));
  EXPECT_EQ(state_of(archive_ / "a.png"), InputFile(archive_ / "a.png").state());
}

TEST_F(OpenArchiveTest, names_the_problem_of_a_member) {
  write(test::tar_header({.name = "a.png", .type = '2', .link_target = "/etc/passwd"}) + tar_end());
  EXPECT_THAT(read(archive_ / "a.png"), HasSubstr("is a link in the archive"));
}

TEST_F(OpenArchiveTest, has_the_inputs_that_are_its_members) {
  write(tar_file("a.png", "one") + tar_end());
  EXPECT_TRUE(input_exists(archive_));
  EXPECT_TRUE(input_exists(archive_ / "a.png"));
  EXPECT_FALSE(input_exists(archive_ / "b.png"));
  EXPECT_FALSE(input_exists(folder_.path() / "none.tar/a.png"));
  write("no archive");
  EXPECT_TRUE(input_exists(archive_ / "a.png")) << "it is not known";
}

TEST_F(OpenArchiveTest, is_the_first_file_of_a_path_with_its_extension) {
  fs::create_directory(folder_.path() / "folder.tar");
  const fs::path inner = folder_.path() / "folder.tar" / "b.tar";
  std::ofstream(inner) << tar_file("c.tar/d.png", "x") << tar_end();
  const std::optional<MemberPath> path = parse_member_path(inner / "c.tar/d.png");
  ASSERT_TRUE(path);
  EXPECT_EQ(path->archive, inner);
  EXPECT_EQ(path->member, "c.tar/d.png");
  EXPECT_FALSE(parse_member_path(inner));
  EXPECT_FALSE(parse_member_path(inner / ""));
}

/// More archives than are kept open.
TEST_F(OpenArchiveTest, reads_any_number_of_archives_by_turns) {
  for (int i = 0; i < 50; ++i)
    std::ofstream(folder_.path() / (std::to_string(i) + ".tar"))
        << tar_file("a.png", std::to_string(i)) << tar_end();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 50; ++i)
      EXPECT_EQ(read(folder_.path() / (std::to_string(i) + ".tar") / "a.png"), std::to_string(i));
  }
}

}  // namespace
}  // namespace eckart::io
