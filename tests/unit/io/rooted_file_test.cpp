#include "io/rooted_file.hpp"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/make_rooted_file.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class RootedFileTest : public testing::Test {
 protected:
  void SetUp() override {
    write("in/day/a.png", "mine");
    write("secret/a.png", "theirs");
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name)) << text;
  }
  RootedFile found(const fs::path& name, files::LinkPolicy links = files::LinkPolicy::none) const {
    return make_rooted_file(at("in"), name, links);
  }
  EntryStat::Kind kind(const fs::path& name, files::LinkPolicy links) const {
    const RootedFile file = found(name, links);
    return stat_entry(*open_directory(file), file.name(), links).kind;
  }
  /// Returns the text of the file, or why it cannot be read.
  static std::string read(const RootedFile& file) {
    try {
      std::string text;
      for (const std::byte byte : open_input(file).read_all(1)) text += char(byte);
      return text;
    } catch (const ItemError& error) {
      return error.what();
    }
  }

  const test::TempFolder folder_;
};

TEST_F(RootedFileTest, is_read_where_it_was_found) {
  EXPECT_EQ(read(found("day/a.png")), "mine");
  EXPECT_EQ(identity_of(open_input(found("day/a.png"))), identity_of(found("day/a.png")));
}

TEST_F(RootedFileTest, is_not_read_in_another_folder) {
  const RootedFile file = found("day/a.png");
  fs::rename(at("in/day"), at("archive"));
  EXPECT_EQ(read(file), "no such file");
  fs::create_directory_symlink(at("archive"), at("in/day"));
  EXPECT_EQ(read(file), "no such file") << "reached through a link to the same folder";
  fs::remove(at("in/day"));
  fs::create_directory_symlink(at("secret"), at("in/day"));
  EXPECT_EQ(read(file), "no such file");
  fs::remove(at("in/day"));
  write("in/day/a.png", "new");
  EXPECT_EQ(read(file), "no such file") << "it is in another folder";
  fs::remove_all(at("in/day"));
  fs::rename(at("archive"), at("in/day"));
  EXPECT_EQ(read(file), "mine");
}

TEST_F(RootedFileTest, reads_a_link_if_links_to_files_are_followed) {
  fs::create_symlink(at("secret/a.png"), at("in/link.png"));
  EXPECT_EQ(read(found("link.png")), "no such file");
  EXPECT_EQ(read(found("link.png", files::LinkPolicy::files)), "theirs");
  EXPECT_EQ(read(found("link.png", files::LinkPolicy::all)), "theirs");
}

TEST_F(RootedFileTest, does_not_wait_for_a_fifo_or_device) {
  ASSERT_EQ(::mkfifo(at("in/fifo.png").c_str(), 0600), 0);
  fs::create_symlink("fifo.png", at("in/link.png"));
  fs::create_symlink("/dev/zero", at("in/zero.png"));
  EXPECT_EQ(read(found("fifo.png")), "is not a regular file");
  for (const char* name : {"fifo.png", "link.png", "zero.png"})
    EXPECT_EQ(read(found(name, files::LinkPolicy::files)), "is not a regular file") << name;
}

TEST_F(RootedFileTest, follows_links_by_policy_in_stat_entry) {
  fs::create_symlink(at("secret/a.png"), at("in/file"));
  fs::create_directory_symlink(at("secret"), at("in/folder"));
  fs::create_symlink("nowhere", at("in/dangling"));
  for (const char* name : {"file", "folder", "dangling"})
    EXPECT_EQ(kind(name, files::LinkPolicy::none), EntryStat::link) << name;
  EXPECT_EQ(kind("file", files::LinkPolicy::files), EntryStat::file);
  EXPECT_EQ(kind("folder", files::LinkPolicy::files), EntryStat::link);
  EXPECT_EQ(kind("file", files::LinkPolicy::all), EntryStat::file);
  EXPECT_EQ(kind("folder", files::LinkPolicy::all), EntryStat::directory);
  EXPECT_EQ(kind("dangling", files::LinkPolicy::all), EntryStat::link);
  EXPECT_EQ(kind("none", files::LinkPolicy::all), EntryStat::missing);
}

}  // namespace
}  // namespace eckart::io
