#include "app/watch_warnings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "tests/support/temp_folder.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class WatchWarningTest : public testing::Test {
 protected:
  WatchWarningTest() {
    watch_.input = at("in");
    watch_.output = at("out/deep");
    watch_.location = "eckart.yaml:2: watches[1]";
    fs::create_directory(at("in"));
    std::ofstream(at("file")) << "x";
  }
  fs::path at(const char* name) const { return folder_.path() / name; }
  std::string said(const std::string& what) const { return watch_.location + ": " + what; }

  const test::TempFolder folder_;
  settings::WatchSettings watch_;
};

TEST_F(WatchWarningTest, is_absent_if_the_folders_can_be_used) {
  EXPECT_THAT(watch_warnings(watch_), IsEmpty()) << "the output folder will be made";
  watch_.after = settings::DoneInputAction::move;
  watch_.move_to = at("done");
  EXPECT_THAT(watch_warnings(watch_), IsEmpty());
}

TEST_F(WatchWarningTest, names_an_input_that_is_missing_or_no_folder) {
  watch_.input = at("missing");
  EXPECT_THAT(
      watch_warnings(watch_),
      ElementsAre(said(at("missing").native() + " does not exist; the service will wait for it")));
  watch_.input = at("file");
  EXPECT_THAT(watch_warnings(watch_),
              ElementsAre(said(at("file").native() + " is not a folder, or is not accessible")));
}

TEST_F(WatchWarningTest, names_each_folder_that_cannot_be_made) {
  watch_.output = at("file/out");
  watch_.after = settings::DoneInputAction::move;
  watch_.move_to = at("file");
  const std::string expected = said(at("file").native() + " is not a folder");
  EXPECT_THAT(watch_warnings(watch_), ElementsAre(expected, expected));
}

/// Another program may expect the inputs where the link is.
TEST_F(WatchWarningTest, names_the_real_folder_of_inputs_that_are_removed) {
  fs::create_directory_symlink(at("in"), at("link"));
  watch_.input = at("link");
  EXPECT_THAT(watch_warnings(watch_), IsEmpty());
  watch_.after = settings::DoneInputAction::remove;
  EXPECT_THAT(watch_warnings(watch_),
              ElementsAre(said(at("link").native() + " leads to " + at("in").native() +
                               " by symbolic links; inputs are moved or deleted there")));
}

TEST_F(WatchWarningTest, finds_out_whether_files_can_be_made) {
  EXPECT_TRUE(can_write_in(at("in")));
  EXPECT_TRUE(can_write_in(at("in/not/yet")));
  EXPECT_FALSE(can_write_in(at("file/below"))) << "a file without the permission to execute it";
}

}  // namespace
}  // namespace eckart::app
