#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "core/rank_spec.hpp"
#include "file_error.hpp"
#include "settings/watches.hpp"

namespace eckart::settings {
namespace {

using testing::EndsWith;

/// Returns the error of a watch with these additional keys, which are in line 3.
std::string watch_error(const std::string& keys) {
  return file_error("watches:\n- {input: /a, output: /b,\n   " + keys + "}\n");
}

/// Returns the error of resolve_watches() after this --set.
std::string watches_set_error(std::string_view yaml, std::string_view assignment) {
  Configuration configuration = load_configuration(TempFile(yaml).path());
  apply(configuration.settings, assignment);
  try {
    resolve_watches(configuration);
  } catch (const SettingsError& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(WatchError, has_the_line_the_watch_and_the_key) {
  EXPECT_EQ(file_error("rank: 5\nwatches:\n  - input: /a\n    output: /b\n"
                       "  - input: /c\n    output: /d\n    limits:\n      side: 0\n"),
            "f:8: watches[2].limits.side: '0' is not an integer from 1 to 1000000");
}

TEST(WatchError, has_the_watch_with_a_missing_key) {
  EXPECT_EQ(file_error("watches:\n  - output: /b\n"), "f:2: watches[1].input.folder: is missing");
  EXPECT_EQ(file_error("watches:\n  - input: /a\n"), "f:2: watches[1].output.folder: is missing");
  EXPECT_EQ(file_error("watches: [{input: /a, output: {format: png}}]"),
            "f:1: watches[1].output.folder: is missing");
  EXPECT_EQ(file_error("watches: [~]"), "f:1: watches[1].input.folder: is missing");
  EXPECT_EQ(watch_error("after: move"),
            "f:2: watches[1].move_to: is missing; after: move requires it");
}

struct RejectedWatchCase {
  std::string keys;
  std::string error;
};

class RejectedWatchTest : public testing::TestWithParam<RejectedWatchCase> {};

TEST_P(RejectedWatchTest, has_the_expected_error) {
  EXPECT_EQ(watch_error(GetParam().keys), "f:3: watches[1]." + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RejectedWatchTest,
    testing::Values(
        RejectedWatchCase{"setle_ms: 3", "setle_ms: unknown key; did you mean settle_ms?"},
        RejectedWatchCase{"keep_days: 3",
                          "keep_days: unknown key; did you mean quarantine.keep_days?"},
        RejectedWatchCase{"quarantine: {keepdays: 3}",
                          "quarantine.keepdays: unknown key; did you mean quarantine.keep_days?"},
        RejectedWatchCase{"lmits: {side: 3}", "lmits: unknown key; did you mean limits?"},
        RejectedWatchCase{"tint: sepia", "tint: unknown key"},
        RejectedWatchCase{"watches: []", "watches: unknown key"},
        RejectedWatchCase{"input: /c", "input: is given more than once"},
        RejectedWatchCase{"input.folder: /c", "input.folder: is given more than once"},
        RejectedWatchCase{"output.folder: /c", "output.folder: is given more than once"},
        RejectedWatchCase{"quarantine: 3", "quarantine: '3' is not a map of keys"},
        RejectedWatchCase{"limits: [3]", "limits: a list is not a map of keys"}));

INSTANTIATE_TEST_SUITE_P(
    Values, RejectedWatchTest,
    testing::Values(
        RejectedWatchCase{"name: a/b",
                          "name: 'a/b' is not at most 64 letters, digits, '.', '_' or '-'"},
        RejectedWatchCase{"name: [a]",
                          "name: a list is not at most 64 letters, digits, '.', '_' or '-'"},
        RejectedWatchCase{"settle_ms: soon",
                          "settle_ms: 'soon' is not an integer from 0 to 3600000"},
        RejectedWatchCase{"retry_timeout_s: -1",
                          "retry_timeout_s: '-1' is not an integer from 0 to 86400"},
        RejectedWatchCase{"rescan_s: 0", "rescan_s: '0' is not an integer from 1 to 86400"},
        RejectedWatchCase{"poll_s: 0", "poll_s: '0' is not an integer from 1 to 86400"},
        RejectedWatchCase{"after: burn", "after: 'burn' is not one of keep, move, delete"},
        RejectedWatchCase{"after: move, move_to: done",
                          "move_to: 'done' is not an absolute path or \"\""},
        RejectedWatchCase{"input.decoder: gdal",
                          "input.decoder: 'gdal' is not one of strict, opencv"},
        RejectedWatchCase{"links: some", "links: 'some' is not one of none, files, all"},
        RejectedWatchCase{"exclude: [c, /d]",
                          "exclude: '/d' is not a relative path without .. or a list of them"},
        RejectedWatchCase{"exclude: c/../d",
                          "exclude: 'c/../d' is not a relative path without .. or a list of them"},
        RejectedWatchCase{"exclude: .",
                          "exclude: '.' is not a relative path without .. or a list of them"},
        RejectedWatchCase{"exclude: ['']",
                          "exclude: '' is not a relative path without .. or a list of them"},
        RejectedWatchCase{"exclude: [[c]]",
                          "exclude: a list is not a relative path without .. or a list of them"},
        RejectedWatchCase{"rank: 0",
                          "rank: '0': at character 1: ranks begin at 1; a rank is one of " +
                              std::string(kRankGrammar)},
        RejectedWatchCase{"quarantine: {max_mb: -1}",
                          "quarantine.max_mb: '-1' is not an integer from 0 to 16777216"}));

INSTANTIATE_TEST_SUITE_P(
    ForAll, RejectedWatchTest,
    testing::Values(
        RejectedWatchCase{"backend: cpu",
                          "backend: applies to all watches: set it at the top level of the file"},
        RejectedWatchCase{
            "threads: {load: 3}",
            "threads.load: applies to all watches: set it at the top level of the file"},
        RejectedWatchCase{
            "cuda: {devices: [0, 1]}",
            "cuda.devices: applies to all watches: set it at the top level of the file"},
        RejectedWatchCase{
            "wait_for_space: true",
            "wait_for_space: applies to all watches: set it at the top level of the file"}));

TEST(WatchOfCommandLine, is_named_by_nothing_but_the_key) {
  Configuration configuration;
  configuration.watches = {watch_of("/a", "/b")};
  configuration.settings.output.format = OutputFormat::none;
  try {
    resolve_watches(configuration);
    FAIL();
  } catch (const SettingsError& error) {
    EXPECT_STREQ(error.what(),
                 "output.format: must not be none without output.factors: a watch writes outputs");
  }
}

INSTANTIATE_TEST_SUITE_P(
    Combinations, RejectedWatchTest,
    testing::Values(
        RejectedWatchCase{"follow_links: true", "follow_links: unknown key"},
        RejectedWatchCase{"ledger: none", "ledger.file: must not be none: a watch needs a ledger"},
        RejectedWatchCase{"output.format: none",
                          "output.format: must not be none without output.factors: a watch "
                          "writes outputs"},
        RejectedWatchCase{"move_to: /c", "move_to: is only allowed with after: move"},
        RejectedWatchCase{"after: delete, move_to: /c",
                          "move_to: is only allowed with after: move"},
        RejectedWatchCase{"after: move, move_to: /a/.", "move_to: must not be the input folder"},
        RejectedWatchCase{"after: move, move_to: /c/../b",
                          "move_to: must not be the output folder"}));

TEST(WatchError, is_raised_for_relative_folders) {
  EXPECT_EQ(file_error("watches: [{input: a, output: /b}]"),
            "f:1: watches[1].input.folder: 'a' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: /a, output: ./b}]"),
            "f:1: watches[1].output.folder: './b' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: '', output: /b}]"),
            "f:1: watches[1].input.folder: '' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: \"/a\\0b\", output: /b}]").substr(0, 21),
            "f:1: watches[1].input");
}

TEST(WatchError, is_raised_unless_watches_are_a_list_of_maps) {
  const std::string expected = " is not a list of maps, each with input and output";
  EXPECT_EQ(file_error("\nwatches: /a"), "f:2: watches: '/a'" + expected);
  EXPECT_EQ(file_error("watches: {input: /a}"), "f:1: watches: a map" + expected);
  EXPECT_EQ(file_error("watches: [/a]"), "f:1: watches[1]: '/a' is not a map of keys");
  EXPECT_EQ(file_error("watches:\n- [a]: 3\n"), "f:2: watches[1]: a list is not the name of a key");
  EXPECT_EQ(file_error("watches: []\nwatches: []\n"), "f:2: watches: is given more than once");
  EXPECT_EQ(file_error("watchs: []"), "f:1: watchs: unknown key; did you mean watches?");
}

TEST(WatchError, names_the_other_watch_with_the_same_folder) {
  EXPECT_EQ(file_error("watches:\n- {input: /a, output: /b}\n- {input: /c, output: /b/}\n"),
            "f:3: watches[2].output.folder: is also the output folder of watches[1]");
  for (const std::string_view after : {"keep", "delete"}) {
    const std::string first = "watches:\n- {input: /a, output: /b, after: " + std::string(after);
    EXPECT_EQ(file_error(first + "}\n- {input: /a/, output: /c, after: delete}\n"),
              "f:3: watches[2].input.folder: is also the input folder of watches[1]; "
              "set after: keep in both");
  }
  EXPECT_EQ(file_error("watches:\n- {input: /a, output: /b, ledger: l}\n"
                       "- {input: /c, output: /d, ledger: ./l}\n"),
            "f:3: watches[2].ledger.file: is also the ledger of watches[1]");
}

TEST(WatchError, names_the_first_of_several_watches_with_the_same_folder) {
  const std::string two =
      "watches:\n- {input: /a, output: /b}\n- {input: /c, output: /d, ledger: /l}\n";
  EXPECT_EQ(file_error(two + "- {input: /e, output: /x/../d}\n"),
            "f:4: watches[3].output.folder: is also the output folder of watches[2]");
  EXPECT_EQ(file_error(two + "- {input: /c/., output: /f, after: delete}\n"),
            "f:4: watches[3].input.folder: is also the input folder of watches[2]; "
            "set after: keep in both");
  EXPECT_EQ(file_error(two + "- {input: /e, output: /f, ledger: /l}\n"),
            "f:4: watches[3].ledger.file: is also the ledger of watches[2]");
  EXPECT_EQ(
      file_error(two + "- {input: /e, output: /f, name: n}\n- {input: /g, output: /h, name: n}"),
      "f:5: watches[4].name: is also the name of watches[3]");
  EXPECT_EQ(
      file_error("watches: [{input: /a, output: /b, after: delete}, {input: /a, output: /c}]"),
      "f:1: watches[2].input.folder: is also the input folder of watches[1]; "
      "set after: keep in both");
}

TEST(WatchError, is_raised_for_null_bytes_in_folders) {
  EXPECT_NE(watch_error("exclude: \"c\\0d\""), "");
  EXPECT_NE(watch_error("after: move, move_to: \"/c\\0d\""), "");
  EXPECT_EQ(watch_error("after: move, move_to: /c"), "");
  EXPECT_EQ(watch_error("move_to: ''"), "");
}

TEST(WatchError, names_the_other_watch_with_the_same_name) {
  EXPECT_EQ(
      file_error(
          "watches:\n- {input: /a, output: /b, name: x}\n- {input: /c, output: /d,\n   name: x}\n"),
      "f:4: watches[2].name: is also the name of watches[1]");
}

TEST(WatchError, is_raised_for_global_settings_after_all_files_and_set_options) {
  const std::string one = "ledger: none\nwatches:\n- {input: /a, output: /b}\n";
  EXPECT_THAT(
      watches_set_error(one, "rank=3"),
      EndsWith(".yaml:3: watches[1].ledger.file: must not be none: a watch needs a ledger"));
  EXPECT_EQ(watches_set_error(one, "ledger=auto"), "");
  EXPECT_THAT(watches_set_error(one + "- {input: /c, output: /d}\n", "ledger=l.db"),
              EndsWith(".yaml:4: watches[2].ledger.file: is also the ledger of watches[1]"));
}

TEST(WatchError, is_raised_for_recursive_lists) {
  EXPECT_EQ(file_error("watches: &a [*a]"), "f:1: watches[1]: a list is not a map of keys");
  EXPECT_EQ(file_error("watches: [&a {input: *a}]"),
            "f:1: watches[1].input.input: unknown key; did you mean input?");
}

}  // namespace
}  // namespace eckart::settings
