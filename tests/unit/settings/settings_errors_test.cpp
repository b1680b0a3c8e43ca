#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>

#include "core/rank_spec.hpp"
#include "file_error.hpp"
#include "settings/watches.hpp"
#include "tests/support/sanitized.hpp"

namespace eckart::settings {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

/// Returns the error of a --set, and checks that it leaves the settings unchanged.
std::string set_error(std::string_view assignment) {
  Settings settings;
  try {
    apply(settings, assignment);
  } catch (const SettingsError& error) {
    EXPECT_EQ(to_yaml(settings), to_yaml(Settings{}));
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
    return error.what();
  }
  return "";
}

TEST(SettingsError, has_location_value_and_expectation) {
  EXPECT_EQ(file_error("rank: 5\n\nbatch:\n  pad: 8\n  linger_ms: fast\n"),
            "f:5: batch.linger_ms: 'fast' is not an integer from 0 to 60000");
  EXPECT_EQ(set_error("batch.linger_ms=fast"),
            "--set batch.linger_ms=fast: "
            "batch.linger_ms: 'fast' is not an integer from 0 to 60000");
}

struct RejectedFileCase {
  std::string yaml;
  std::string error;
};

class RejectedFileTest : public testing::TestWithParam<RejectedFileCase> {};

TEST_P(RejectedFileTest, has_the_expected_error) {
  EXPECT_EQ(file_error(GetParam().yaml), GetParam().error);
}

INSTANTIATE_TEST_SUITE_P(
    Values, RejectedFileTest,
    testing::Values(
        RejectedFileCase{"threads: {load: -1}",
                         "f:1: threads.load: '-1' is not auto or an integer from 1 to 1024"},
        RejectedFileCase{"threads: {load: 0}",
                         "f:1: threads.load: '0' is not auto or an integer from 1 to 1024"},
        RejectedFileCase{"cuda: {memory_fraction: 1.5}",
                         "f:1: cuda.memory_fraction: '1.5' is not a number from 0.01 to 1"},
        RejectedFileCase{"cuda: {memory_fraction: .nan}",
                         "f:1: cuda.memory_fraction: '.nan' is not a number from 0.01 to 1"},
        RejectedFileCase{"cuda: {memory_fraction: nan}",
                         "f:1: cuda.memory_fraction: 'nan' is not a number from 0.01 to 1"},
        RejectedFileCase{"rank: 0",
                         "f:1: rank: '0': at character 1: ranks begin at 1; a rank is one of " +
                             std::string(kRankGrammar)},
        RejectedFileCase{"rank: [5, x]",
                         "f:1: rank: '5,x': at character 3: expected a rank; a rank is one of " +
                             std::string(kRankGrammar)},
        RejectedFileCase{
            "rank: [5, 5]",
            "f:1: rank: '5,5': at character 3: '5' is listed twice; a rank is one of " +
                std::string(kRankGrammar)},
        RejectedFileCase{"rank: []", "f:1: rank: an empty list is not a rank or a list of ranks"},
        RejectedFileCase{"rank: [[5]]", "f:1: rank: a list is not a rank or a list of ranks"},
        RejectedFileCase{"color: rgb",
                         "f:1: color: 'rgb' is not one of channels, luma, ycbcr, joint, gray"},
        RejectedFileCase{"chroma_rank: '5,6'", "f:1: chroma_rank: '5,6' is not a rank or \"\""},
        RejectedFileCase{"input: {decoder: OpenCV}",
                         "f:1: input.decoder: 'OpenCV' is not one of strict, opencv"},
        RejectedFileCase{"input: {size: 256}",
                         "f:1: input.size: '256' is not WIDTHxHEIGHT or max:N with sides from 1 to "
                         "65535, or \"\""},
        RejectedFileCase{"input: {gray: yes}", "f:1: input.gray: 'yes' is not true or false"},
        RejectedFileCase{"input: {normalize: zscore}",
                         "f:1: input.normalize: 'zscore' is not one of none, minmax"},
        RejectedFileCase{"input: /a", "f:1: input: '/a' is not a map of keys"},
        RejectedFileCase{
            "output: {format: bmp}",
            "f:1: output.format: 'bmp' is not one of png, jpeg, tiff, webp, pnm, none"},
        RejectedFileCase{"backend: foo",
                         "f:1: backend: 'foo' is not one of auto, cuda, cpu, checked"},
        RejectedFileCase{"solver: foo",
                         "f:1: solver: 'foo' is not one of auto, gram, subspace, gesvd, gesvdj"},
        RejectedFileCase{"deterministic: maybe",
                         "f:1: deterministic: 'maybe' is not true or false"},
        RejectedFileCase{"cuda: {devices: [0, x]}",
                         "f:1: cuda.devices: '0,x' is not all or a list of GPU numbers"},
        RejectedFileCase{"cuda: {devices: [-1]}",
                         "f:1: cuda.devices: '-1' is not an integer from 0 to 1023"},
        RejectedFileCase{"cuda: {devices: [1, 1]}", "f:1: cuda.devices: '1,1' names GPU 1 twice"},
        RejectedFileCase{
            "telemetry: {throughput_log: logs/}",
            "f:1: telemetry.throughput_log: 'logs/' is not the name of a file or \"\""},
        RejectedFileCase{"budget_mb: 2GB",
                         "f:1: budget_mb: '2GB' is not auto or an integer from 1 to 16777216"},
        RejectedFileCase{"budget_mb: 99999999999999999999999",
                         "f:1: budget_mb: '99999999999999999999999' is not auto or an integer from "
                         "1 to 16777216"},
        RejectedFileCase{"batch: {pad: 32.5}",
                         "f:1: batch.pad: '32.5' is not an integer from 1 to 1024"},
        RejectedFileCase{"batch: {pad: 4294967304}",
                         "f:1: batch.pad: '4294967304' is not an integer from 1 to 1024"}));

/// Other machines could connect to addresses other than the loopback interface and read the status.
TEST(SettingsError, is_raised_for_listen_addresses_beyond_loopback) {
  for (const char* address :
       {"127.0.0.1.example.com:80", "localhost.example.com:80", "127.0.0.10:80", "0.0.0.0:80",
        "[::1].example.com:80", "[::]:80", ":80", "xlocalhost:80", "localhost:0", "localhost:65536",
        "localhost:80x", "localhost"}) {
    EXPECT_NE(set_error(std::string("telemetry.listen=\"") + address + '"'), "") << address;
  }
  for (const char* address : {"127.0.0.1:80", "localhost:65535", "[::1]:9464"}) {
    Settings settings;
    settings::apply(settings, std::string("telemetry.listen=\"") + address + '"');
    EXPECT_EQ(settings.telemetry.listen, address);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, RejectedFileTest,
    testing::Values(
        RejectedFileCase{"\nbatch:\n  pad: [8]\n",
                         "f:3: batch.pad: a list is not an integer from 1 to 1024"},
        RejectedFileCase{"\nbatch:\n  pad:\n",
                         "f:3: batch.pad: null is not an integer from 1 to 1024"},
        RejectedFileCase{"output: {name: ~}", "f:1: output.name: null is not the name of a file"},
        RejectedFileCase{"output: {name: {stem}}",
                         "f:1: output.name: a map is not the name of a file"},
        RejectedFileCase{"batch: 8", "f:1: batch: '8' is not a map of keys"},
        RejectedFileCase{"- backend", "f:1: a list is not a map of keys"},
        RejectedFileCase{"backend", "f:1: 'backend' is not a map of keys"},
        RejectedFileCase{"[a, b]: 1", "f:1: a list is not the name of a key"},
        RejectedFileCase{"'': {rank: 3}", "f:1: '' is not the name of a key"},
        RejectedFileCase{"budget_mb: 1\nrank: 3\nbudget_mb: 2\n",
                         "f:3: budget_mb: is given more than once"},
        RejectedFileCase{"batch: {pad: 8}\nbatch: {planes: 8}\n",
                         "f:2: batch: is given more than once"},
        RejectedFileCase{"batch: {pad: 8}\nbatch.pad: 8\n",
                         "f:2: batch.pad: is given more than once"},
        RejectedFileCase{"rank: 3\n---\nrank: 4\n", "f:2: a second YAML document; expected one"},
        RejectedFileCase{",", "f:1: a second YAML document; expected one"}));

INSTANTIATE_TEST_SUITE_P(
    Keys, RejectedFileTest,
    testing::Values(
        RejectedFileCase{"rank: 3\nbatch:\n  lingerms: 3\n",
                         "f:3: batch.lingerms: unknown key; did you mean batch.linger_ms?"},
        RejectedFileCase{"linger_ms: 3",
                         "f:1: linger_ms: unknown key; did you mean batch.linger_ms?"},
        RejectedFileCase{"bacth: {pad: 3}", "f:1: bacth: unknown key; did you mean batch?"},
        RejectedFileCase{"ranks: 3", "f:1: ranks: unknown key; did you mean rank?"},
        RejectedFileCase{"sepia: 1", "f:1: sepia: unknown key"},
        RejectedFileCase{"\"a\\nb\": 1", "f:1: a\\nb: unknown key"}));

TEST(SettingsError, has_the_line_of_invalid_yaml) {
  for (const std::string_view yaml :
       {"rank: 3\nbatch: {pad: 8\n", "rank: 3\nname: {stem}.{ext}\n", "rank: 3\n\tpad: 8\n",
        "rank: 3\nbackend: *cpu\n", "rank: 3\nbackend: a: b\n", "rank: 3\nbatch: {pad: 8}}\n"}) {
    EXPECT_THAT(file_error(yaml), testing::ContainsRegex("^f:[234]: not valid YAML: .")) << yaml;
  }
}

TEST(SettingsError, names_a_tab_only_if_it_is_before_text) {
  EXPECT_THAT(file_error("rank: 5\n\tinput:\n"),
              testing::EndsWith("f:2: not valid YAML: a tab before the text; use spaces"));
  EXPECT_THAT(file_error("rank: 5\n\t\nwatches: [\n"), testing::Not(HasSubstr("a tab")));
}

TEST(SettingsError, names_an_unreadable_file) {
  const auto message = [](const std::filesystem::path& path) -> std::string {
    try {
      load_configuration(path);
    } catch (const SettingsError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(message("/nowhere/eckart.yaml"),
            "/nowhere/eckart.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(message("/"), "/: cannot be read: it is a folder");
  EXPECT_EQ(message("/dev/zero"), "/dev/zero: cannot be read: larger than 1 MiB");
}

TEST(SettingsError, is_raised_for_a_file_of_more_than_1_mib) {
  const std::size_t max = 1 << 20;
  EXPECT_EQ(file_error("rank: 5\n#" + std::string(max - 10, 'x') + "\n"), "");
  EXPECT_EQ(file_error("rank: 5\n#" + std::string(max - 9, 'x') + "\n"),
            "f: cannot be read: larger than 1 MiB");
}

TEST(SettingsError, has_the_place_and_the_wrong_character_of_a_rank) {
  try {
    parse_settings("budget_mb: 5\nrank: '5,x'\n", "the ledger's settings");
    FAIL();
  } catch (const RankSettingError& error) {
    EXPECT_EQ(error.place(), "the ledger's settings:2: rank");
    EXPECT_EQ(error.error().text(), "5,x");
    EXPECT_EQ(error.error().position(), 2U);
  }
}

TEST(SettingsError, is_raised_for_a_chroma_rank_without_chroma) {
  Settings settings;
  EXPECT_NO_THROW(check_chroma_rank(settings));
  settings.chroma_rank = RankPolicy{5};
  for (const ColorMode color : enum_values<ColorMode>()) {
    settings.color = color;
    try {
      check_chroma_rank(settings);
      EXPECT_EQ(color, ColorMode::ycbcr);
    } catch (const std::invalid_argument& error) {
      EXPECT_EQ(error.what(),
                "chroma_rank is set, but color is " + to_string(color) + ", not ycbcr");
    }
  }
}

TEST(SettingsError, cuts_no_character_of_a_long_value) {
  EXPECT_EQ(one_line("abcd", 4), "abcd");
  EXPECT_EQ(one_line("abcde", 4), "abcd...");
  EXPECT_EQ(one_line("abc\u00e4", 4), "abc...");
  EXPECT_EQ(one_line("ab\u00e4e", 4), "ab\u00e4...");
  EXPECT_EQ(one_line("a\n", 4), "a\\n");
  EXPECT_EQ(quote(std::string(81, 'x')), "'" + std::string(80, 'x') + "...'");
}

/// Each is read as text, whatever YAML takes it for.
TEST(SettingsError, is_raised_for_values_that_are_almost_right) {
  const std::pair<const char*, const char*> cases[] = {
      {"output.webp_quality=0", "'0' is not lossless or an integer from 1 to 100"},
      {"output.webp_quality=101", "'101' is not lossless or an integer from 1 to 100"},
      {"output.webp_quality=Lossless", "'Lossless' is not lossless or an integer from 1 to 100"},
      {"output.residual=0", "'0' is not none, auto or a positive number"},
      {"output.residual=-2", "'-2' is not none, auto or a positive number"},
      {"quality.peak=0", "'0' is not auto, dtype, range or a positive number"},
      {"quality.peak=bits_stored", "'bits_stored' is not auto, dtype, range or a positive number"},
      {"input.gray=True", "'True' is not true or false"},
      {"ledger=''", "'' is not auto, none or the name of a file"},
      {"telemetry.listen=relative.sock",
       "'relative.sock' is not a loopback address with a port, an absolute path or \"\""},
      {"telemetry.listen=/run/",
       "'/run/' is not a loopback address with a port, an absolute path or \"\""},
      {"batch.planes=Auto", "'Auto' is not auto or an integer from 1 to 65536"},
      {"batch.pad=auto", "'auto' is not an integer from 1 to 1024"},
      {"cuda.memory_fraction=0.5x", "'0.5x' is not a number from 0.01 to 1"},
      {"cuda.devices=[all, 1]", "'all,1' is not all or a list of GPU numbers"},
      {"cuda.devices=[]", "an empty list is not all or a list of GPU numbers"},
      {"input.size=0x5", "'0x5' is not WIDTHxHEIGHT or max:N with sides from 1 to 65535, or \"\""}};
  for (const auto& [assignment, error] : cases)
    EXPECT_THAT(set_error(assignment), testing::EndsWith(std::string(": ") + error)) << assignment;
  Settings settings;
  apply(settings, "output.webp_quality=lossless");
  EXPECT_EQ(settings.output.webp_quality, kLosslessWebp);
  apply(settings, "output.webp_quality=1");
  EXPECT_EQ(settings.output.webp_quality, 1);
  apply(settings, "telemetry.listen=/run/eckart.sock");
  EXPECT_EQ(settings.telemetry.listen, "/run/eckart.sock");
}

TEST(SettingsError, quotes_the_set_option) {
  EXPECT_EQ(set_error("rank"), "--set rank: expected key=value");
  EXPECT_EQ(set_error("=3"), "--set =3: expected key=value");
  EXPECT_EQ(set_error(""), "--set : expected key=value");
  EXPECT_EQ(set_error("rnak=3"), "--set rnak=3: rnak: unknown key; did you mean rank?");
  EXPECT_EQ(set_error("batch.pad.x=3"),
            "--set batch.pad.x=3: batch.pad.x: unknown key; did you mean batch.pad?");
  EXPECT_EQ(set_error("watches=[]"),
            "--set watches=[]: watches can only be set in a file (--config)");
  EXPECT_EQ(set_error("watches[1].rank=3"),
            "--set watches[1].rank=3: watches can only be set in a file (--config)");
  EXPECT_EQ(set_error("batch=3"), "--set batch=3: batch: '3' is not a map of keys");
  EXPECT_THAT(set_error("batch.pad=12abc"), HasSubstr("batch.pad: '12abc' is not an integer"));
  EXPECT_THAT(set_error("batch.pad="), HasSubstr("batch.pad: '' is not an integer"));
  EXPECT_THAT(set_error("batch.pad= "), HasSubstr("batch.pad: null is not an integer"));
  EXPECT_THAT(set_error("batch.pad={a: 1}"), HasSubstr("batch.pad: '{a: 1}' is not an integer"));
  EXPECT_THAT(set_error("rank=[1"), StartsWith("--set rank=[1: not valid YAML: "));
  EXPECT_EQ(set_error("rank=,5"), "--set rank=,5: a second YAML document; expected one");
  EXPECT_THAT(set_error("batch={pad: 8, planes: x}"), HasSubstr("batch.planes: 'x' is not"));
}

TEST(SettingsError, is_short) {
  const std::string longest(100000, 'x');
  EXPECT_LT(file_error("rank: " + longest).size(), 400U);
  EXPECT_LT(file_error("backend: " + longest).size(), 400U);
  EXPECT_LT(file_error(longest + ": 3").size(), 400U);
  EXPECT_LT(set_error("backend=" + longest).size(), 400U);
  EXPECT_THAT(file_error("backend: \"a\\nb\\eb\""), HasSubstr("'a\\nb\\x1bb'"));
}

TEST(SettingsError, is_the_only_result_of_damaged_files) {
  std::string whole = to_yaml(Settings{});
  whole += "watches: [{input: /a, output: {folder: /b}, rank: 3, exclude: [c]}]\n";
  constexpr std::size_t kStep = test::kIsSanitized ? 37 : 7;  // a sanitizer takes 40 s for all
  for (std::size_t i = 0; i < whole.size(); i += kStep) {
    file_error(whole.substr(0, i));
    for (const char c : {'\0', '\t', '{', '[', '"', ':', '*', '!', '\n', '-', '\xff'}) {
      std::string damaged = whole;
      damaged[i] = c;
      file_error(damaged);
    }
  }
}

TEST(SettingsError, is_the_only_result_of_deep_nesting) {
  EXPECT_THAT(file_error(std::string(100000, '[')), StartsWith("f:"));
  EXPECT_THAT(file_error("backend: &a {backend: *a}"), HasSubstr("backend: a map is not"));
  EXPECT_THAT(file_error("batch: &a {batch: *a}"), HasSubstr("batch.batch: unknown key"));
}

}  // namespace
}  // namespace eckart::settings
