#include "io/list_images.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
  const auto listed = list_images(inputs, 100);
  ASSERT_TRUE(listed);
  EXPECT_THAT(*listed, testing::UnorderedElementsAreArray(expected));
  EXPECT_EQ(listed->size(), 4U);
}

TEST_F(ListImagesTest, gives_up_at_too_many_entries) {
  const std::vector<fs::path> inputs{folder_.path() / "in"};
  EXPECT_FALSE(list_images(inputs, 3));
  const std::vector<fs::path> twice{inputs.front(), inputs.front()};
  EXPECT_TRUE(list_images(inputs, 8));
  EXPECT_FALSE(list_images(twice, 8));
}

}  // namespace
}  // namespace eckart::io
