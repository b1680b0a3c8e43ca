#include "bench/repeated_inputs.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <iterator>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::bench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;

class RepeatedInputTest : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& text) {
    const fs::path file = folder_.path() / name;
    std::ofstream(file) << text;
    return file;
  }
  static std::string text_of(const fs::path& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static nlink_t links(const fs::path& file) {
    struct stat state {};
    EXPECT_EQ(::stat(file.c_str(), &state), 0);
    return state.st_nlink;
  }
  const test::TempFolder folder_;
  const fs::path a_ = write("a.png", "first"), b_ = write("b c.jpg", "second");
  const fs::path root_ = folder_.path() / "in";
};

TEST_F(RepeatedInputTest, has_all_files_in_each_folder) {
  for (const auto kind : {RepeatedInputs::Kind::copies, RepeatedInputs::Kind::links}) {
    RepeatedInputs inputs(root_, {a_, b_}, kind);
    inputs.grow(5);
    EXPECT_THAT(inputs.paths(), ElementsAre(root_ / "0/0.png", root_ / "0/1.jpg", root_ / "1/0.png",
                                            root_ / "1/1.jpg", root_ / "2/0.png"));
    EXPECT_EQ(text_of(inputs.paths()[3]), "second");
    inputs.shrink(3);
    EXPECT_EQ(inputs.paths().size(), 3u);
    EXPECT_FALSE(fs::exists(root_ / "1/1.jpg"));
    fs::remove_all(root_);
  }
}

TEST_F(RepeatedInputTest, leaves_the_files_unchanged) {
  RepeatedInputs inputs(root_, {a_}, RepeatedInputs::Kind::copies);
  inputs.grow(3);
  EXPECT_EQ(links(a_), 1u);
  EXPECT_EQ(links(inputs.paths().front()), 3u);
}

TEST_F(RepeatedInputTest, is_named_as_its_file_in_messages) {
  RepeatedInputs inputs(root_, {a_, b_}, RepeatedInputs::Kind::links);
  inputs.grow(4);
  EXPECT_EQ(inputs.with_original_path("12:00:00 E " + (root_ / "1/1.jpg").native() + ": corrupt"),
            "12:00:00 E " + b_.native() + ": corrupt");
  EXPECT_EQ(inputs.with_original_path("no path"), "no path");
}

TEST_F(RepeatedInputTest, names_a_file_that_cannot_be_copied) {
  const fs::path missing = folder_.path() / "missing.png";
  RepeatedInputs inputs(root_, {missing}, RepeatedInputs::Kind::copies);
  try {
    inputs.grow(1);
    FAIL() << "no error";
  } catch (const FatalError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr(missing.native()));
  }
}

TEST_F(RepeatedInputTest, is_chosen_from_all_parts_of_a_list) {
  std::vector<fs::path> files;
  for (int i = 0; i < 10; ++i) files.push_back(write(std::to_string(i) + ".png", "0123456789"));
  const auto at = [&](int i) { return files[std::size_t(i)]; };
  EXPECT_EQ(choose_sample(files, 20, 1000), files);
  EXPECT_THAT(choose_sample(files, 3, 1000), ElementsAre(at(0), at(3), at(6)));
  EXPECT_THAT(choose_sample(files, 10, 50), ElementsAre(at(0), at(2), at(4), at(6), at(8)));
  EXPECT_THAT(choose_sample(files, 10, 1), ElementsAre(at(0)));
}

}  // namespace
}  // namespace eckart::bench
