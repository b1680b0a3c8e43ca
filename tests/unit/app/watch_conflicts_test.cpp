#include "app/watch_conflicts.hpp"

#include <gmock/gmock.h>

#include <string>

#include "core/error.hpp"

namespace eckart::app {
namespace {

using settings::DoneInputAction;
using settings::WatchSettings;
using testing::HasSubstr;

/// Folders that do not exist.
WatchSettings watch_of(const std::string& input, const std::string& output,
                       DoneInputAction after = DoneInputAction::keep,
                       const std::string& move_to = {}) {
  WatchSettings watch;
  watch.input = "/none/" + input;
  watch.output = "/none/" + output;
  watch.after = after;
  if (!move_to.empty()) watch.move_to = "/none/" + move_to;
  watch.location = "the watch of " + input;
  return watch;
}

/// Returns the message of the error; empty if there is none.
std::string conflict(const std::vector<WatchSettings>& watches) {
  try {
    check_watch_conflicts(watches);
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    return error.what();
  }
  return {};
}

TEST(WatchConflict, is_not_found_for_separate_folders) {
  EXPECT_EQ(conflict({watch_of("a", "x"), watch_of("b", "y", DoneInputAction::remove)}), "");
  EXPECT_EQ(conflict({watch_of("a", "x"), watch_of("a/sub", "y")}), "") << "both keep their inputs";
}

TEST(WatchConflict, is_found_for_overlapping_output_folders) {
  EXPECT_THAT(conflict({watch_of("a", "x"), watch_of("b", "x/sub")}), HasSubstr("output folders"));
  EXPECT_THAT(conflict({watch_of("a", "x", DoneInputAction::move, "x/done")}),
              HasSubstr("output and move_to folders"));
}

TEST(WatchConflict, is_found_if_a_watch_removes_the_inputs_of_another) {
  EXPECT_THAT(conflict({watch_of("a", "x"), watch_of("a/sub", "y", DoneInputAction::remove)}),
              HasSubstr("one watch moves or deletes its inputs"));
}

TEST(WatchConflict, is_not_found_for_a_folder_that_is_not_scanned) {
  WatchSettings outer = watch_of("a", "x");
  outer.exclude = {"sub"};
  EXPECT_EQ(conflict({outer, watch_of("a/sub", "y", DoneInputAction::remove)}), "");
}

TEST(WatchConflict, is_found_if_outputs_become_inputs_again) {
  EXPECT_THAT(conflict({watch_of("a", "a/x")}),
              HasSubstr("its outputs are in its input folder /none/a and would be processed"));
  EXPECT_THAT(conflict({watch_of("a", "x", DoneInputAction::move, "a/done")}),
              HasSubstr("its moved inputs are in its input folder"));
  EXPECT_THAT(conflict({watch_of("a", "b"), watch_of("b", "c"), watch_of("c", "a/x")}),
              HasSubstr("the outputs of the watch of c are in its input folder"));
  EXPECT_EQ(conflict({watch_of("a", "b"), watch_of("b", "c")}), "");
}

/// The first watch would make outputs again that the second removes.
TEST(WatchConflict, is_found_if_outputs_of_kept_inputs_are_removed) {
  const auto chain = [](DoneInputAction first) {
    return conflict({watch_of("a", "b", first), watch_of("b", "c", DoneInputAction::remove)});
  };
  EXPECT_THAT(chain(DoneInputAction::keep), HasSubstr("Each removed output would be made again"));
  EXPECT_EQ(chain(DoneInputAction::remove), "");
}

}  // namespace
}  // namespace eckart::app
