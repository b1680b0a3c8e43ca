#include "io/archive_source.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "core/error.hpp"
#include "io/list_images.hpp"
#include "tests/support/tar_bytes.hpp"
#include "tests/support/temp_folder.hpp"
#include "text/unread_files_text.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::tar_end;
using test::tar_file;
using test::tar_header;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

class ArchiveSourceTest : public testing::Test {
 protected:
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  fs::path write(const fs::path& name, const std::string& bytes) const {
    fs::create_directories(at(name).parent_path());
    std::ofstream(at(name), std::ios::binary) << bytes;
    return at(name);
  }

  /// Returns the paths below the output folder, with the reason of a failure.
  static std::vector<std::string> items_of(Source& source, std::size_t group = 1) {
    std::vector<std::string> items;
    for (;;) {
      const std::vector<SourceItem> found = source.next_group({}, group);
      if (found.empty()) return items;
      for (const SourceItem& item : found)
        items.push_back(item.relative.string() +
                        (item.outcome.ok() ? "" : ": " + item.outcome.detail));
    }
  }
  static std::vector<std::string> items_of(const fs::path& input, std::size_t group = 1) {
    return items_of(*make_source(input), group);
  }

  const test::TempFolder folder_;
};

TEST_F(ArchiveSourceTest, yields_the_images_in_the_order_of_the_archive) {
  const fs::path archive =
      write("a.tar", tar_file("d/b.png", "x") + tar_file("d/b.json", "x") + tar_file("a.jpg", "x") +
                         tar_file(".hidden.png", "x") + tar_file("._d/c.png", "x") +
                         tar_file("d/.e/c.png", "x") + tar_end());
  const auto source = make_source(archive);
  const auto first = source->next({});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->file, archive / "d/b.png");
  EXPECT_EQ(first->relative, "d/b.png");
  EXPECT_THAT(items_of(*source), ElementsAre("a.jpg"));
  EXPECT_EQ(source->ignored_count(), 4);
  EXPECT_EQ(text::unread_files_text(source->unread_files().by_extension()),
            text::unread_files_text({{".json", 1}}));
  EXPECT_THAT(source->unread_examples(), ElementsAre(archive / "d/b.json"));
}

TEST_F(ArchiveSourceTest, is_read_at_its_place_in_a_folder) {
  write("in/a.png", "x");
  write("in/b.tar",
        tar_file("2.png", "x") + tar_file("1.png", "x") + tar_file("n", "x") + tar_end());
  write("in/c.png", "x");
  write("in/d/e.tar", tar_file("f.png", "x") + tar_end());
  write("in/.hidden.tar", tar_file("g.png", "x") + tar_end());
  for (const std::size_t group : {1, 2, 3, 100}) {
    const auto source = make_source(at("in"));
    EXPECT_THAT(items_of(*source, group),
                ElementsAre("a.png", "b.tar/2.png", "b.tar/1.png", "c.png", "d/e.tar/f.png"));
    EXPECT_EQ(source->ignored_count(), 2);
  }
}

TEST_F(ArchiveSourceTest, fails_for_each_hostile_member_alone) {
  write("a.tar", tar_file("/etc/a.png", "x") + tar_file("../b.png", "x") +
                     tar_header({.name = "c.png", .type = '2', .link_target = "/etc/passwd"}) +
                     tar_header({.name = "link", .type = '2', .link_target = "/etc"}) +
                     tar_file("good.png", "x") + tar_end());
  EXPECT_THAT(
      items_of(at("a.tar")),
      ElementsAre("a.tar: the member /etc/a.png cannot be read: its name in the archive is "
                  "an absolute path",
                  "a.tar: the member ../b.png cannot be read: its name in the archive has ..",
                  "c.png: is a link in the archive, which is not followed", "good.png"));
}

TEST_F(ArchiveSourceTest, yields_what_is_before_a_damaged_place_and_then_the_failure) {
  const std::string bytes = tar_file("a.png", "x") + tar_file("b.png", "x");
  write("in/a.tar", bytes.substr(0, 1024 + 100));
  write("in/b.png", "x");
  EXPECT_THAT(items_of(at("in")),
              ElementsAre("a.tar/a.png",
                          HasSubstr("a.tar: the archive is damaged or truncated after its member "
                                    "number 1: "),
                          "b.png"));
}

TEST_F(ArchiveSourceTest, fails_for_what_is_no_archive) {
  write("in/a.tar", "\x1F\x8B");
  fs::create_symlink("nowhere", at("in/b.tar"));
  EXPECT_THAT(items_of(at("in")),
              ElementsAre(HasSubstr("a.tar: is compressed with gzip"), "b.tar: no such file"));
}

TEST_F(ArchiveSourceTest, yields_a_member_that_is_named_alone) {
  write("a.tar", tar_file("d/a.png", "x") + tar_end());
  EXPECT_THAT(items_of(at("a.tar/d/a.png")), ElementsAre("a.png"));
  std::ofstream(at("list")) << at("a.tar/d/a.png").string() << '\n';
  const auto listed = make_list_source(at("list"), at("out"));
  EXPECT_EQ(listed->next({})->file, at("a.tar/d/a.png"));
}

TEST_F(ArchiveSourceTest, knows_the_folders_beside_a_member) {
  write("a.tar", tar_file("a.jpg", "x") + tar_file("a.png/b/c.png", "x") + tar_end());
  const auto source = make_source(at("a.tar"));
  EXPECT_THAT(*source->next({})->sibling_folders, ElementsAre("a.png"));
  EXPECT_THAT(*source->next({})->sibling_folders, IsEmpty());
}

TEST_F(ArchiveSourceTest, is_listed_like_a_folder) {
  write("in/a.png", "x");
  write("in/b.tar", tar_file("1.png", "x") + tar_file("n", "x") + tar_end());
  const std::vector<fs::path> inputs{at("in"), at("in/b.tar")};
  EXPECT_THAT(*list_images(inputs, 10),
              UnorderedElementsAre(at("in/a.png"), at("in/b.tar/1.png"), at("in/b.tar/1.png")));
  EXPECT_EQ(list_images(inputs, 4), std::nullopt);
}

}  // namespace
}  // namespace eckart::io
