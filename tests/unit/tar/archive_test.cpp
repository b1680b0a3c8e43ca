#include "tar/archive.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "core/error.hpp"
#include "tests/support/tar_bytes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::tar {
namespace {

using test::tar_end;
using test::tar_file;
using test::tar_header;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class ArchiveTest : public testing::Test {
 protected:
  Archive open(const std::string& bytes, const std::stop_token& stop = {}) const {
    const auto file = folder_.path() / "a.tar";
    std::ofstream(file, std::ios::binary) << bytes;
    return Archive(files::FileDescriptor(::open(file.c_str(), O_RDONLY)), stop);
  }

  static std::string content(const Archive& archive, const std::string& name) {
    const Member* const member = archive.find(name);
    if (!member) return "no member";
    std::string bytes(std::size_t(member->size), '\0');
    const auto count =
        ::pread(archive.descriptor().get(), bytes.data(), bytes.size(), off_t(member->offset));
    return count == ssize_t(bytes.size()) ? bytes : "not read";
  }

  static std::vector<std::string> names(const Archive& archive) {
    std::vector<std::string> all;
    for (const Member& member : archive.members()) all.push_back(member.name);
    return all;
  }

  std::string error(const std::string& bytes) const try {
    open(bytes);
    return "no error";
  } catch (const ItemError& failure) {
    return failure.what();
  }

  static std::string problem(const Archive& archive, const std::string& name) {
    const Member* const member = archive.find(name);
    return member ? member->problem : "no member";
  }

  const test::TempFolder folder_;
};

TEST_F(ArchiveTest, has_the_members_in_order_with_their_contents) {
  const std::string large(100000, 'x');
  const Archive archive = open(tar_file("b.png", "two") + tar_file("d/large.png", large) +
                               tar_file("a.png", "one") + tar_file("empty", "") + tar_end());
  EXPECT_THAT(names(archive), ElementsAre("b.png", "d/large.png", "a.png", "empty"));
  EXPECT_EQ(content(archive, "b.png"), "two");
  EXPECT_EQ(content(archive, "d/large.png"), large);
  EXPECT_EQ(content(archive, "a.png"), "one");
  EXPECT_EQ(content(archive, "empty"), "");
  EXPECT_EQ(archive.find("none"), nullptr);
  EXPECT_EQ(archive.damage(), "");
}

TEST_F(ArchiveTest, removes_dots_and_empty_components_from_names) {
  const Archive archive =
      open(tar_header({.name = "./", .type = '5'}) + tar_file("./d//./a.png", "x") + tar_end());
  EXPECT_THAT(names(archive), ElementsAre("d/a.png"));
  EXPECT_EQ(content(archive, "d/a.png"), "x");
}

TEST_F(ArchiveTest, reads_names_of_pax_headers_as_bytes) {
  const std::string name = std::string(150, 'n') + "/\xC3\xA9.png";
  const std::string text = " path=" + name + "\n";
  const std::string record = std::to_string(text.size() + 3) + text;
  std::string pax = tar_header({.name = "pax", .size = record.size(), .type = 'x'}) + record;
  pax.resize(1024);
  const Archive archive = open(pax + tar_file("short", "content") + tar_end());
  EXPECT_THAT(names(archive), ElementsAre(name));
  EXPECT_EQ(content(archive, name), "content");
}

TEST_F(ArchiveTest, has_the_last_of_members_with_one_name) {
  const Archive archive = open(tar_file("a.png", "old") + tar_file("b.png", "b") +
                               tar_file("./a.png", "new") + tar_end());
  EXPECT_THAT(names(archive), ElementsAre("b.png", "a.png"));
  EXPECT_EQ(content(archive, "a.png"), "new");
}

TEST_F(ArchiveTest, marks_names_that_lead_out_of_a_folder) {
  const Archive archive = open(tar_file("/etc/a.png", "x") + tar_file("d/../../a.png", "x") +
                               tar_file("..png", "x") + tar_end());
  ASSERT_EQ(archive.members().size(), 3u);
  EXPECT_TRUE(archive.members()[0].is_unsafe);
  EXPECT_EQ(problem(archive, "/etc/a.png"), "its name in the archive is an absolute path");
  EXPECT_TRUE(archive.members()[1].is_unsafe);
  EXPECT_EQ(problem(archive, "d/../../a.png"), "its name in the archive has ..");
  EXPECT_FALSE(archive.members()[2].is_unsafe);
}

/// Otherwise each of its thousands of folders would take memory.
TEST_F(ArchiveTest, names_the_problem_of_a_member_with_a_name_that_is_no_path) {
  std::string name;
  for (int i = 0; i < 5000; ++i) name += "a/";
  const std::string text = " path=" + name + "b.png\n";
  const std::string record = std::to_string(text.size() + 5) + text;
  std::string pax = tar_header({.name = "pax", .size = record.size(), .type = 'x'}) + record;
  pax.resize((pax.size() + 511) / 512 * 512);
  const Archive archive = open(pax + tar_file("x", "content") + tar_end());
  ASSERT_EQ(archive.members().size(), 1u);
  EXPECT_TRUE(archive.members()[0].is_unsafe);
  EXPECT_LT(archive.members()[0].name.size(), 5000u);
  EXPECT_THAT(archive.members()[0].problem, HasSubstr("longer than 4095 bytes"));
}

TEST_F(ArchiveTest, names_the_problem_of_members_that_are_no_files) {
  const Archive archive =
      open(tar_header({.name = "soft.png", .type = '2', .link_target = "/etc/passwd"}) +
           tar_header({.name = "hard.png", .type = '1', .link_target = "a.png"}) +
           tar_header({.name = "device.png", .type = '3'}) +
           tar_header({.name = "fifo.png", .type = '6'}) + tar_file("a.png", "x") + tar_end());
  EXPECT_THAT(problem(archive, "soft.png"), HasSubstr("link"));
  EXPECT_THAT(problem(archive, "hard.png"), HasSubstr("link"));
  EXPECT_THAT(problem(archive, "device.png"), HasSubstr("device"));
  EXPECT_THAT(problem(archive, "fifo.png"), HasSubstr("FIFO"));
  EXPECT_EQ(problem(archive, "a.png"), "");
}

TEST_F(ArchiveTest, names_the_problem_of_a_sparse_member) {
  // One part of 512 bytes at 1 MiB, and nothing before it.
  const std::string map = std::string("00004000000\0", 12) + std::string("00000001000\0", 12) +
                          std::string(73, '\0') + std::string("00004001000\0", 12);
  const Archive archive =
      open(tar_header({.name = "sparse.png", .size = 512, .type = 'S', .sparse_map = map}) +
           std::string(512, 'x') + tar_file("a.png", "one") + tar_end());
  EXPECT_THAT(problem(archive, "sparse.png"), HasSubstr("sparse"));
  EXPECT_EQ(content(archive, "a.png"), "one");
}

TEST_F(ArchiveTest, has_all_members_before_the_place_where_it_is_truncated) {
  const std::string bytes =
      tar_file("a.png", "one") + tar_file("b.png", std::string(5000, 'b')) + tar_end();
  const Archive archive = open(bytes.substr(0, 3000));
  EXPECT_EQ(content(archive, "a.png"), "one");
  EXPECT_EQ(problem(archive, "b.png"), "is truncated: the archive ends within it");
  EXPECT_THAT(archive.damage(), HasSubstr("runcated"));
}

TEST_F(ArchiveTest, has_all_members_before_the_place_where_it_is_damaged) {
  std::string bytes = tar_file("a.png", "one") + tar_file("b.png", "two") + tar_end();
  bytes[1024 + 148] = 'x';  // the checksum of the second header
  const Archive archive = open(bytes);
  EXPECT_THAT(names(archive), ElementsAre("a.png"));
  EXPECT_THAT(archive.damage(), HasSubstr("amaged"));
}

/// As an archive that is not completely copied.
TEST_F(ArchiveTest, has_no_end_without_the_blocks_of_zeros) {
  const Archive archive = open(tar_file("a.png", "one"));
  EXPECT_THAT(names(archive), ElementsAre("a.png"));
  EXPECT_EQ(archive.damage(), "the blocks that end an archive are missing");
  EXPECT_EQ(
      open(tar_file("a.png", "one") + tar_header({.name = "d/", .type = '5'}) + tar_end()).damage(),
      "");
}

TEST_F(ArchiveTest, has_no_members_if_there_are_none) {
  EXPECT_THAT(names(open(tar_end())), IsEmpty());
}

TEST_F(ArchiveTest, refuses_what_is_no_archive) {
  EXPECT_EQ(error(""), "the archive is empty");
  EXPECT_THAT(error(std::string(2000, 'x')), HasSubstr("is not a tar archive"));
  EXPECT_THAT(error("\x1F\x8B" + std::string(600, 'x')), HasSubstr("is compressed with gzip"));
  EXPECT_THAT(error("\x28\xB5\x2F\xFD" + std::string(600, 'x')), HasSubstr("with zstd"));
}

TEST_F(ArchiveTest, ends_early_if_a_stop_is_requested) {
  std::stop_source stop;
  stop.request_stop();
  const Archive archive =
      open(tar_file("a.png", "one") + tar_file("b.png", "two") + tar_end(), stop.get_token());
  EXPECT_THAT(names(archive), ElementsAre("a.png"));
}

TEST(ArchiveName, ends_with_tar) {
  EXPECT_TRUE(is_archive_name("a.tar"));
  EXPECT_TRUE(is_archive_name("a.TAR"));
  EXPECT_FALSE(is_archive_name(".tar"));
  EXPECT_FALSE(is_archive_name("a.tar.gz"));
  EXPECT_FALSE(is_archive_name("tar"));
}

}  // namespace
}  // namespace eckart::tar
