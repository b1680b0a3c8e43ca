#include "io/publication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/file.hpp"
#include "io/file_comparison.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/io/item_error.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;
using test::TempFolder;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

std::vector<std::byte> bytes(std::size_t size) {
  return std::vector<std::byte>(size, std::byte(7));
}

/// Names of all files below, hidden ones too.
std::vector<std::string> files(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.push_back(fs::relative(entry.path(), folder));
  }
  return names;
}

void expect_no_failure(std::size_t index, const ItemError& error) {
  ADD_FAILURE() << index << ": " << error.what();
}

class PublicationTest : public ::testing::TestWithParam<bool> {
 protected:
  const TempFolder folder_;
  const fs::path& root_ = folder_.path();
  const bool durable_ = GetParam();
};

TEST_P(PublicationTest, shows_nothing_before_it_is_published_and_everything_after) {
  Publication first, second;
  first.add(root_ / "new" / "a", bytes(10));
  first.add(root_ / "b", bytes(20));
  second.add(root_ / "new" / "c", bytes(30));
  for (const std::string& name : files(root_)) EXPECT_THAT(name, HasSubstr(".eckart-"));
  EXPECT_FALSE(first.published());
  Publication* const group[] = {&first, &second};
  publish(group, {.durable = durable_}, expect_no_failure);
  EXPECT_THAT(files(root_), UnorderedElementsAre("new/a", "b", "new/c"));
  EXPECT_EQ(read_file(root_ / "new" / "c", 1).size(), 30u);
  EXPECT_TRUE(first.published());
  EXPECT_TRUE(second.published());
}

TEST_P(PublicationTest, leaves_nothing_where_it_is_not_published) {
  {
    Publication publication;
    publication.add(root_ / "a", bytes(10));
    publication.clear();
    EXPECT_EQ(files(root_).size(), 0u);
    publication.add(root_ / "b", bytes(10));
  }
  EXPECT_EQ(files(root_).size(), 0u);
}

TEST_P(PublicationTest, one_that_fails_costs_no_other) {
  fs::create_directory(root_ / "b");
  Publication a, b, c;
  a.add(root_ / "a", bytes(10));
  b.add(root_ / "b", bytes(10));
  c.add(root_ / "c", bytes(10));
  Publication* const group[] = {&a, &b, &c};
  std::vector<std::size_t> failed;
  publish(group, {.durable = durable_}, [&](std::size_t index, const ItemError& error) {
    failed.push_back(index);
    EXPECT_EQ(error.reason(), Reason::output_collision);
    EXPECT_THAT(error.what(), HasSubstr((root_ / "b").native() + ": Is a directory"));
  });
  EXPECT_EQ(failed, std::vector<std::size_t>{1});
  EXPECT_THAT(files(root_), UnorderedElementsAre("a", "c"));
  for (const Publication* each : group) EXPECT_TRUE(each->published()) << "it is not tried again";
}

TEST_P(PublicationTest, a_file_in_the_place_of_its_folder_is_a_collision) {
  publish_file(root_ / "file", bytes(1));
  Publication publication;
  const test::Failure failure =
      test::failure_of([&] { publication.add(root_ / "file" / "below", bytes(10)); });
  EXPECT_EQ(failure.reason, Reason::output_collision);
  EXPECT_THAT(failure.detail, HasSubstr((root_ / "file" / "below").native() + ": Not a directory"));
  EXPECT_THAT(files(root_), UnorderedElementsAre("file"));
  EXPECT_EQ(fs::file_size(root_ / "file"), 1u);
}

TEST_P(PublicationTest, a_name_that_the_system_refuses_is_not_written_and_no_collision) {
  const std::string name(300, 'x');
  Publication publication;
  publication.add(root_ / name, bytes(10));
  Publication* const group[] = {&publication};
  std::size_t failures = 0;
  publish(group, {.durable = durable_}, [&](std::size_t, const ItemError& error) {
    ++failures;
    EXPECT_EQ(error.reason(), Reason::not_written);
    EXPECT_THAT(error.what(), HasSubstr(name + ": File name too long"));
  });
  EXPECT_EQ(failures, 1u);
  EXPECT_EQ(files(root_).size(), 0u);
}

TEST_P(PublicationTest, asks_before_it_replaces_and_keeps_what_it_is_told_to) {
  for (const char* name : {"a", "b", "c"}) publish_file(root_ / name, bytes(1));
  Publication a, b, c, d;
  a.add(root_ / "a", bytes(10));
  b.add(root_ / "b", bytes(10));
  c.add(root_ / "c", bytes(10));
  d.add(root_ / "d", bytes(10));
  Publication* const group[] = {&a, &b, &c, &d};
  std::vector<std::size_t> failed;
  const auto decide = [&](std::size_t index, const fs::path& place, const fs::path& written) {
    EXPECT_EQ(compare(place, written), Likeness::beginning);
    if (index == 2) throw ItemError(Reason::output_collision, "in the way");
    return index == 0 ? AtTakenPlace::replace : AtTakenPlace::keep;
  };
  publish(group, {.durable = durable_, .decide = decide},
          [&](std::size_t index, const ItemError& error) {
            failed.push_back(index);
            EXPECT_EQ(error.reason(), Reason::output_collision);
          });
  EXPECT_EQ(failed, std::vector<std::size_t>{2});
  EXPECT_EQ(fs::file_size(root_ / "a"), 10u);
  EXPECT_EQ(fs::file_size(root_ / "b"), 1u);
  EXPECT_EQ(fs::file_size(root_ / "c"), 1u);
  EXPECT_THAT(files(root_), UnorderedElementsAre("a", "b", "c", "d"));
}

/// Though the first of them has a free place.
TEST_P(PublicationTest, is_published_whole_or_not_at_all_where_a_place_is_taken) {
  publish_file(root_ / "b", bytes(1));
  Publication publication;
  publication.add(root_ / "a", bytes(10));
  publication.add(root_ / "b", bytes(10));
  Publication* const group[] = {&publication};
  bool failed = false;
  publish(group,
          {.durable = durable_,
           .decide = [](auto, const auto&, const auto&) -> AtTakenPlace {
             throw ItemError(Reason::output_collision, "in the way");
           }},
          [&](std::size_t, const ItemError&) { failed = true; });
  EXPECT_TRUE(failed);
  EXPECT_THAT(files(root_), UnorderedElementsAre("b"));
}

TEST(FileComparison, tells_a_beginning_from_what_differs) {
  const TempFolder folder;
  const auto write = [&](const char* name, std::size_t size, bool last_differs = false) {
    std::vector<std::byte> content = bytes(size);
    if (last_differs) content.back() = std::byte(8);
    publish_file(folder.path() / name, content);
    return folder.path() / name;
  };
  constexpr std::size_t kBlock = 1 << 16;
  const fs::path whole = write("whole", 2 * kBlock);
  EXPECT_EQ(compare(whole, whole), Likeness::same);
  EXPECT_EQ(compare(write("empty", 0), whole), Likeness::beginning);
  EXPECT_EQ(compare(write("block", kBlock), whole), Likeness::beginning);
  EXPECT_EQ(compare(write("most", 2 * kBlock - 1), whole), Likeness::beginning);
  EXPECT_EQ(compare(write("last", 2 * kBlock, true), whole), Likeness::different);
  EXPECT_EQ(compare(write("longer", 2 * kBlock + 1), whole), Likeness::different);
  EXPECT_EQ(compare(folder.path() / "none", whole), Likeness::different);
  fs::create_symlink(whole, folder.path() / "link");
  EXPECT_EQ(compare(folder.path() / "link", whole), Likeness::different);
}

INSTANTIATE_TEST_SUITE_P(Each, PublicationTest, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "durable" : "not_durable"; });

TEST(PublishNewFile, replaces_nothing_and_leaves_nothing_behind) {
  const TempFolder folder;
  const fs::path& root = folder.path();
  publish_new_file(root / "new" / "a", bytes(10));
  publish_new_file(root / "new" / "a", bytes(10));  // which stays
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new" / "a", bytes(11)); }).reason,
            Reason::output_collision);
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new" / "a", bytes(9)); }).reason,
            Reason::output_collision);
  fs::create_symlink("new/a", root / "link");
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "link", bytes(10)); }).reason,
            Reason::output_collision);
  EXPECT_EQ(test::failure_of([&] { publish_new_file(root / "new", bytes(10)); }).reason,
            Reason::output_collision);
  EXPECT_THAT(files(root / "new"), UnorderedElementsAre("a"));
  EXPECT_TRUE(fs::is_symlink(root / "link"));
  EXPECT_EQ(read_file(root / "new" / "a", 1).size(), 10u);
}

}  // namespace
}  // namespace eckart::io
