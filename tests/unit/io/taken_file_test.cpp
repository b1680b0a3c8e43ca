#include "io/taken_file.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "io/file.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

class TakenFileTest : public ::testing::Test {
 protected:
  fs::path write(const fs::path& name, const std::string& text) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path;
  }
  static std::string read(const fs::path& path) {
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  int files() const {
    int count = 0;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path()))
      count += entry.is_regular_file();
    return count;
  }

  const test::TempFolder folder_;
};

TEST_F(TakenFileTest, is_hidden_while_it_is_taken_and_comes_back) {
  const fs::path file = write("a.png", "1");
  {
    const auto taken = TakenFile::take(file, state_of(file));
    ASSERT_TRUE(taken);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(file), "1");
}

TEST_F(TakenFileTest, is_not_taken_where_it_is_not_as_it_was) {
  const fs::path file = write("a.png", "1");
  const FileState before = state_of(file);
  write("a.png", "another");
  EXPECT_FALSE(TakenFile::take(file, before));
  EXPECT_EQ(read(file), "another");
  fs::remove(file);
  EXPECT_FALSE(TakenFile::take(file, before));
}

TEST_F(TakenFileTest, leaves_alone_what_arrives_meanwhile) {
  const fs::path file = write("a.png", "1");
  auto taken = TakenFile::take(file, state_of(file));
  write("a.png", "2");
  taken->remove();
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 1);
}

TEST_F(TakenFileTest, comes_back_beside_what_replaced_it) {
  const fs::path file = write("a.png", "1");
  {
    const auto taken = TakenFile::take(file, state_of(file));
    write("a.png", "2");
  }
  EXPECT_EQ(read(file), "2");
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileTest, moves_to_a_folder_that_is_made_and_never_over_a_file) {
  const fs::path to = folder_.path() / "done/deep/a.png";
  for (const char* text : {"1", "2", "3"}) {
    const fs::path file = write("a.png", text);
    TakenFile::take(file, state_of(file))->move_to(to);
    EXPECT_FALSE(fs::exists(file));
  }
  EXPECT_EQ(read(to), "1");
  EXPECT_EQ(files(), 3);
}

TEST_F(TakenFileTest, moves_to_another_file_system_with_its_time) {
  if (!fs::is_directory("/dev/shm")) GTEST_SKIP() << "there is no /dev/shm to be another one";
  const fs::path elsewhere = "/dev/shm/eckart-taken-file-test";
  const fs::path file = write("a.png", "1");
  const auto time = fs::last_write_time(file) - std::chrono::hours(5);
  fs::last_write_time(file, time);
  TakenFile::take(file, state_of(file))->move_to(elsewhere / "a.png");
  EXPECT_EQ(read(elsewhere / "a.png"), "1");
  EXPECT_EQ(fs::last_write_time(elsewhere / "a.png"), time);
  EXPECT_EQ(files(), 0);
  fs::remove_all(elsewhere);
}

TEST_F(TakenFileTest, moves_names_of_any_length_beside_each_other) {
  const std::string name = std::string(251, 'x') + ".png";
  for (int i = 0; i < 2; ++i) {
    const fs::path file = write(name, "1");
    TakenFile::take(file, state_of(file))->move_to(folder_.path() / "done" / name);
  }
  EXPECT_EQ(files(), 2);
}

TEST_F(TakenFileTest, takes_names_of_any_length) {
  const fs::path file = write(std::string(251, 'x') + ".png", "1");
  TakenFile::take(file, state_of(file))->remove();
  EXPECT_EQ(files(), 0);
}

TEST_F(TakenFileTest, what_a_killed_process_had_taken_is_restored) {
  const std::string hidden = ".eckart-taken-0123456789abcdef-a-b.png";
  write(hidden, "1");
  EXPECT_TRUE(restore_taken(folder_.path(), hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  write(hidden, "2");  // and what replaced it meanwhile stays
  EXPECT_TRUE(restore_taken(folder_.path(), hidden));
  EXPECT_EQ(read(folder_.path() / "a-b.png"), "1");
  EXPECT_EQ(files(), 2);
  EXPECT_FALSE(restore_taken(folder_.path(), "a-b.png"));
}

TEST_F(TakenFileTest, one_file_that_was_left_with_both_names_has_one_again) {
  const std::string hidden = ".eckart-taken-0123456789abcdef-a.png";
  fs::create_hard_link(write("a.png", "1"), folder_.path() / hidden);
  EXPECT_TRUE(restore_taken(folder_.path(), hidden));
  EXPECT_EQ(read(folder_.path() / "a.png"), "1");
  EXPECT_EQ(files(), 1);
}

TEST_F(TakenFileTest, what_this_process_has_taken_is_not_restored) {
  const fs::path file = write("a.png", "1");
  const auto taken = TakenFile::take(file, state_of(file));
  for (const auto& entry : fs::directory_iterator(folder_.path()))
    EXPECT_FALSE(restore_taken(folder_.path(), entry.path().filename().native()));
  EXPECT_FALSE(fs::exists(file));
}

}  // namespace
}  // namespace eckart::io
