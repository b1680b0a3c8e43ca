#include "io/publication.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "io/file.hpp"
#include "tests/support/temp_folder.hpp"

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
  publish(group, durable_, expect_no_failure);
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
  publish(group, durable_, [&](std::size_t index, const ItemError& error) {
    failed.push_back(index);
    EXPECT_EQ(error.reason(), Reason::not_written);
    EXPECT_THAT(error.what(), HasSubstr("b: Is a directory"));
  });
  EXPECT_EQ(failed, std::vector<std::size_t>{1});
  EXPECT_THAT(files(root_), UnorderedElementsAre("a", "c"));
}

INSTANTIATE_TEST_SUITE_P(Each, PublicationTest, ::testing::Bool(),
                         [](const auto& each) { return each.param ? "durable" : "not_durable"; });

}  // namespace
}  // namespace eckart::io
