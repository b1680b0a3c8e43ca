#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "file_error.hpp"
#include "settings/watches.hpp"

namespace eckart::settings {
namespace {

using testing::EndsWith;

/// What is said of a watch with these keys as well, in line 3.
std::string watch_error(const std::string& keys) {
  return file_error("watches:\n- {input: /a, output: /b,\n   " + keys + "}\n");
}

/// What watches_of() says when this was --set.
std::string set_error(std::string_view yaml, std::string_view assignment) {
  Configuration configuration = load_configuration(ScratchFile(yaml).path());
  apply(configuration.settings, assignment);
  try {
    watches_of(configuration);
  } catch (const SettingsError& error) {
    EXPECT_EQ(std::string_view(error.what()).find('\n'), std::string_view::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(WatchErrors, NameTheLineTheWatchAndTheKey) {
  EXPECT_EQ(file_error("rank: 5\nwatches:\n  - input: /a\n    output: /b\n"
                       "  - input: /c\n    output: /d\n    limits:\n      side: 0\n"),
            "f:8: watches[2].limits.side: '0' is not an integer from 1 to 1000000");
}

TEST(WatchErrors, NameTheWatchWhereAKeyIsMissing) {
  EXPECT_EQ(file_error("watches:\n  - output: /b\n"), "f:2: watches[1].input: is missing");
  EXPECT_EQ(file_error("watches:\n  - input: /a\n"), "f:2: watches[1].output.folder: is missing");
  EXPECT_EQ(file_error("watches: [{input: /a, output: {format: png}}]"),
            "f:1: watches[1].output.folder: is missing");
  EXPECT_EQ(file_error("watches: [~]"), "f:1: watches[1].input: is missing");
  EXPECT_EQ(watch_error("after: move"),
            "f:2: watches[1].move_to: is missing, and after: move needs it");
}

struct Refused {
  std::string keys;
  std::string error;
};

class RefusedWatch : public testing::TestWithParam<Refused> {};

TEST_P(RefusedWatch, IsExplained) {
  EXPECT_EQ(watch_error(GetParam().keys), "f:3: watches[1]." + GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Keys, RefusedWatch,
    testing::Values(Refused{"setle_ms: 3", "setle_ms: unknown key; did you mean settle_ms?"},
                    Refused{"keep_days: 3",
                            "keep_days: unknown key; did you mean quarantine.keep_days?"},
                    Refused{"quarantine: {keepdays: 3}",
                            "quarantine.keepdays: unknown key; did you mean quarantine.keep_days?"},
                    Refused{"lmits: {side: 3}", "lmits: unknown key; did you mean limits?"},
                    Refused{"colour: sepia", "colour: unknown key"},
                    Refused{"watches: []", "watches: unknown key"},
                    Refused{"input: /c", "input: is given twice"},
                    Refused{"output.folder: /c", "output.folder: is given twice"},
                    Refused{"quarantine: 3", "quarantine: '3' is not a map of keys"},
                    Refused{"limits: [3]", "limits: a list is not a map of keys"}));

INSTANTIATE_TEST_SUITE_P(
    Values, RefusedWatch,
    testing::Values(
        Refused{"settle_ms: soon", "settle_ms: 'soon' is not an integer from 0 to 3600000"},
        Refused{"patience_s: -1", "patience_s: '-1' is not an integer from 0 to 86400"},
        Refused{"rescan_s: 0", "rescan_s: '0' is not an integer from 1 to 86400"},
        Refused{"poll_s: 0", "poll_s: '0' is not an integer from 1 to 86400"},
        Refused{"after: burn", "after: 'burn' is not one of keep, move, delete"},
        Refused{"after: move, move_to: done", "move_to: 'done' is not an absolute path or \"\""},
        Refused{"links: some", "links: 'some' is not one of none, files, all"},
        Refused{"follow_links: maybe", "follow_links: 'maybe' is not true or false"},
        Refused{"exclude: [c, /d]",
                "exclude: '/d' is not a relative path without .. or a list of them"},
        Refused{"exclude: c/../d",
                "exclude: 'c/../d' is not a relative path without .. or a list of them"},
        Refused{"exclude: .", "exclude: '.' is not a relative path without .. or a list of them"},
        Refused{"exclude: ['']", "exclude: '' is not a relative path without .. or a list of them"},
        Refused{"exclude: [[c]]",
                "exclude: a list is not a relative path without .. or a list of them"},
        Refused{"rank: 0", "rank: '0': expected a positive integer"},
        Refused{"quarantine: {max_mb: -1}",
                "quarantine.max_mb: '-1' is not an integer from 0 to 16777216"}));

INSTANTIATE_TEST_SUITE_P(
    ForAll, RefusedWatch,
    testing::Values(
        Refused{"backend: cpu", "backend: is for all watches: say it at the top"},
        Refused{"threads: {load: 3}", "threads.load: is for all watches: say it at the top"},
        Refused{"cuda: {devices: [0, 1]}", "cuda.devices: is for all watches: say it at the top"},
        Refused{"wait_for_space: true", "wait_for_space: is for all watches: say it at the top"}));

INSTANTIATE_TEST_SUITE_P(
    Combinations, RefusedWatch,
    testing::Values(Refused{"links: all, follow_links: true",
                            "follow_links: is the old name of links: remove it"},
                    Refused{"ledger: none", "ledger.file: is none, and a watch needs its ledger"},
                    Refused{"move_to: /c", "move_to: is only for after: move"},
                    Refused{"after: delete, move_to: /c", "move_to: is only for after: move"},
                    Refused{"after: move, move_to: /a/.", "move_to: is the input as well"},
                    Refused{"after: move, move_to: /c/../b", "move_to: is the output as well"}));

TEST(WatchErrors, AskForAbsoluteFolders) {
  EXPECT_EQ(file_error("watches: [{input: a, output: /b}]"),
            "f:1: watches[1].input: 'a' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: /a, output: ./b}]"),
            "f:1: watches[1].output.folder: './b' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: '', output: /b}]"),
            "f:1: watches[1].input: '' is not an absolute path");
  EXPECT_EQ(file_error("watches: [{input: \"/a\\0b\", output: /b}]").substr(0, 21),
            "f:1: watches[1].input");
}

TEST(WatchErrors, SayThatWatchesAreAListOfMaps) {
  const std::string expected = " is not a list of maps, each with input and output";
  EXPECT_EQ(file_error("\nwatches: /a"), "f:2: watches: '/a'" + expected);
  EXPECT_EQ(file_error("watches: {input: /a}"), "f:1: watches: a map" + expected);
  EXPECT_EQ(file_error("watches: [/a]"), "f:1: watches[1]: '/a' is not a map of keys");
  EXPECT_EQ(file_error("watches:\n- [a]: 3\n"), "f:2: watches[1]: a list is not the name of a key");
  EXPECT_EQ(file_error("watches: []\nwatches: []\n"), "f:2: watches: is given twice");
  EXPECT_EQ(file_error("watchs: []"), "f:1: watchs: unknown key; did you mean watches?");
}

TEST(WatchErrors, NameTheOtherWatchOfAFolder) {
  EXPECT_EQ(file_error("watches:\n- {input: /a, output: /b}\n- {input: /c, output: /b/}\n"),
            "f:3: watches[2].output.folder: is that of watches[1]");
  for (const std::string_view after : {"keep", "delete"}) {
    const std::string first = "watches:\n- {input: /a, output: /b, after: " + std::string(after);
    EXPECT_EQ(file_error(first + "}\n- {input: /a/, output: /c, after: delete}\n"),
              "f:3: watches[2].input: is that of watches[1], and not both have after: keep");
  }
  EXPECT_EQ(file_error("watches:\n- {input: /a, output: /b, ledger: l}\n"
                       "- {input: /c, output: /d, ledger: ./l}\n"),
            "f:3: watches[2].ledger.file: is that of watches[1]");
}

TEST(WatchErrors, OfWhatIsSaidForAllComeWhenAllIsSaid) {
  const std::string one = "ledger: none\nwatches:\n- {input: /a, output: /b}\n";
  EXPECT_THAT(set_error(one, "rank=3"),
              EndsWith(".yaml:3: watches[1].ledger.file: is none, and a watch needs its ledger"));
  EXPECT_EQ(set_error(one, "ledger=auto"), "");
  EXPECT_THAT(set_error(one + "- {input: /c, output: /d}\n", "ledger=l.db"),
              EndsWith(".yaml:4: watches[2].ledger.file: is that of watches[1]"));
}

TEST(WatchErrors, AreAllThatComesOfListsInThemselves) {
  EXPECT_EQ(file_error("watches: &a [*a]"), "f:1: watches[1]: a list is not a map of keys");
  EXPECT_EQ(file_error("watches: [&a {input: *a}]"),
            "f:1: watches[1].input: a map is not an absolute path");
}

}  // namespace
}  // namespace eckart::settings
