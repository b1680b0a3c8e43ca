#include "io/list_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "io/source.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

class ListImagesTest : public testing::Test {
 protected:
  ListImagesTest() {
    for (const char* name : {"in/a.png", "in/b.txt", "in/.hidden/c.png", "in/sub/d.jpg",
                             "in/sub/.e.png", "other/f.png"}) {
      fs::create_directories((folder_.path() / name).parent_path());
      std::ofstream(folder_.path() / name) << "x";
    }
    fs::create_directory_symlink(folder_.path() / "other", folder_.path() / "in/link");
    fs::create_symlink(folder_.path() / "other/f.png", folder_.path() / "in/g.png");
  }

  const test::TempFolder folder_;
};

TEST_F(ListImagesTest, yields_the_files_of_the_source) {
  const std::vector<fs::path> inputs{folder_.path() / "in", folder_.path() / "in/b.txt"};
  std::vector<fs::path> expected;
  for (const fs::path& input : inputs) {
    const std::unique_ptr<Source> source = make_source(input);
    while (const auto item = source->next({})) expected.push_back(item->file);
  }
  const ImageListing listed = list_images(inputs, 100);
  EXPECT_TRUE(listed.is_complete);
  EXPECT_THAT(listed.files, testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(listed.files.size(), 4U);
}

TEST_F(ListImagesTest, stops_at_too_many_entries) {
  const std::vector<fs::path> inputs{folder_.path() / "in"};
  EXPECT_FALSE(list_images(inputs, 3).is_complete);
  const std::vector<fs::path> twice{inputs.front(), inputs.front()};
  EXPECT_TRUE(list_images(inputs, 8).is_complete);
  EXPECT_FALSE(list_images(twice, 8).is_complete);
  EXPECT_EQ(list_images(twice, 8).files.size(), 3U);
}

TEST_F(ListImagesTest, stops_at_a_folder_that_cannot_be_read) {
  const fs::path folder = folder_.path() / "in/sub";
  fs::permissions(folder, fs::perms::none);
  const std::vector<fs::path> inputs{folder_.path() / "in"};
  const bool may_read_all = ::access(folder.c_str(), R_OK) == 0;
  EXPECT_EQ(list_images(inputs, 100).is_complete, may_read_all);
  fs::permissions(folder, fs::perms::owner_all);
}

}  // namespace
}  // namespace eckart::io
