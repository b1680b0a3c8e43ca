#include "app/quarantine_place.hpp"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

class QuarantinePlace : public testing::Test {
 protected:
  fs::path place_of(const fs::path& relative) const {
    return quarantine_place(folder_.path(), relative);
  }
  void make_file(const fs::path& relative) const {
    fs::create_directories((folder_.path() / relative).parent_path());
    std::ofstream(folder_.path() / relative) << "x";
  }

  const test::TempFolder folder_;
};

TEST_F(QuarantinePlace, is_that_of_the_input_where_nothing_is_in_its_way) {
  EXPECT_EQ(place_of("a.png"), "a.png");
  EXPECT_EQ(place_of("d/e/a.png"), "d/e/a.png");
  make_file("d/e/a.png");
  EXPECT_EQ(place_of("d/e/b.png"), "d/e/b.png");
  EXPECT_EQ(place_of("d/e/a.png"), "d/e/a.png") << "a file may follow a file";
}

TEST_F(QuarantinePlace, has_a_number_where_a_file_is_and_a_folder_is_needed) {
  make_file("q.png");
  EXPECT_EQ(place_of("q.png/x.png"), "2-q.png/x.png");
  make_file("2-q.png");
  EXPECT_EQ(place_of("q.png/x.png"), "3-q.png/x.png");
  make_file("3-q.png/x.png");
  EXPECT_EQ(place_of("q.png/x.png/y.png"), "3-q.png/2-x.png/y.png");
  make_file("r.png.reason.json");
  EXPECT_EQ(place_of("r.png.reason.json/x.png"), "2-r.png.reason.json/x.png");
}

TEST_F(QuarantinePlace, has_a_number_where_a_folder_is_and_a_file_is_to_be) {
  make_file("q.png/x.png");
  EXPECT_EQ(place_of("q.png"), "2-q.png");
  make_file("r.png.reason.json/x.png");
  EXPECT_EQ(place_of("r.png"), "2-r.png") << "or its reason";
}

TEST_F(QuarantinePlace, is_behind_no_link) {
  fs::create_directory_symlink("/", folder_.path() / "link");
  EXPECT_EQ(place_of("link/a.png"), "2-link/a.png");
}

}  // namespace
}  // namespace eckart::app
