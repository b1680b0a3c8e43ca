#include "app/watch_conflicts.hpp"

#include <gmock/gmock.h>

#include <ctime>
#include <string>
#include <vector>

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
  EXPECT_EQ(conflict({watch_of("a", "x"), watch_of("ab", "xy", DoneInputAction::remove)}), "")
      << "only their names begin alike";
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

TEST(WatchConflict, is_found_in_the_root_folder_and_with_dots_and_slashes) {
  WatchSettings root = watch_of("a", "x");
  root.input = "/";
  EXPECT_THAT(conflict({root}), HasSubstr("its outputs are in its input folder / and"));
  EXPECT_THAT(conflict({watch_of("a/", "b/..//a/./x/")}), HasSubstr("its outputs are in its"));
}

/// The first watch would make outputs again that the second removes.
TEST(WatchConflict, is_found_if_outputs_of_kept_inputs_are_removed) {
  const auto chain = [](DoneInputAction first) {
    return conflict({watch_of("a", "b", first), watch_of("b", "c", DoneInputAction::remove)});
  };
  EXPECT_THAT(chain(DoneInputAction::keep), HasSubstr("Each removed output would be made again"));
  EXPECT_EQ(chain(DoneInputAction::remove), "");
}

TEST(WatchConflict, names_the_watch_the_folders_and_a_remedy) {
  const auto a = watch_of("a", "x");
  EXPECT_EQ(conflict({a, watch_of("b", "x/sub")}),
            "the watch of a: output folders /none/x and /none/x/sub overlap");
  EXPECT_EQ(conflict({watch_of("b", "x/sub"), a}),
            "the watch of b: output folders /none/x/sub and /none/x overlap");
  EXPECT_EQ(conflict({a, watch_of("b", "y", DoneInputAction::move, "x/done")}),
            "the watch of b: output and move_to folders /none/x and /none/x/done overlap");
  EXPECT_EQ(conflict({watch_of("a", "x/y"), watch_of("b", "z", DoneInputAction::move, "x")}),
            "the watch of b: output and move_to folders /none/x/y and /none/x overlap");
  for (const bool inner_removes : {false, true}) {
    EXPECT_EQ(conflict({watch_of("a/sub", "y",
                                 inner_removes ? DoneInputAction::remove : DoneInputAction::keep),
                        watch_of("a", "x",
                                 inner_removes ? DoneInputAction::keep : DoneInputAction::remove)}),
              "the watch of a/sub: input folders (one watch moves or deletes its inputs) "
              "/none/a/sub and /none/a overlap");
  }
  EXPECT_EQ(conflict({watch_of("a", "a/x")}),
            "the watch of a: its outputs are in its input folder /none/a and would be processed "
            "again as inputs. Choose a folder outside of it, or set exclude");
  EXPECT_EQ(conflict({watch_of("a", "b"), watch_of("b", "c", DoneInputAction::remove)}),
            "the watch of a: its outputs are inputs of the watch of b, which removes them (after: "
            "delete). Each removed output would be made again. Set after: delete or after: move in "
            "the watch of a, or after: keep in the watch of b");
  WatchSettings excluding = watch_of("a", "a/x/y");
  excluding.exclude = {"x"};
  EXPECT_EQ(conflict({excluding}), "");
  EXPECT_THAT(conflict({watch_of("a", "b", DoneInputAction::move, "c"),
                        watch_of("c", "a/x", DoneInputAction::remove)}),
              HasSubstr("the outputs of the watch of c are in its input folder /none/a"));
}

/// Each path is resolved once. Resolving the two paths of each pair of folders would take minutes.
TEST(WatchConflict, is_searched_for_in_a_thousand_watches_in_seconds) {
  std::vector<WatchSettings> watches;
  for (int i = 0; i < 1000; ++i) {
    const std::string name = std::to_string(i);
    WatchSettings& watch =
        watches.emplace_back(watch_of(name, "out/" + name, DoneInputAction::move, "done/" + name));
    watch.exclude = {"a", "b"};
    if (i > 0) watch.output = watches[std::size_t(i) - 1].input / "out";  // a chain
  }
  const std::clock_t begin = std::clock();
  EXPECT_EQ(conflict(watches), "");
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 10) << "seconds of CPU time";
}

TEST(OwnFolder, is_one_that_no_scan_of_the_watch_reaches_by_its_path) {
  const std::vector<WatchSettings> watches = {
      watch_of("a", "x"), watch_of("x", "y", DoneInputAction::move, "done"), watch_of("b", "z")};
  const std::vector<io::OwnFolders> own_folders = own_folders_of(watches);
  const auto folders_of = [&](std::size_t watch) {
    std::string text;
    for (const io::OwnFolders::Folder& folder : own_folders[watch].folders())
      text.append(folder->filename().native()).append(" ");
    return text;
  };
  EXPECT_EQ(folders_of(0), "x y done z ");
  EXPECT_EQ(folders_of(1), "y done z ") << "x has its inputs";
}

}  // namespace
}  // namespace eckart::app
