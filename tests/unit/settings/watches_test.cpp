#include "settings/watches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/rank_spec.hpp"
#include "temp_file.hpp"

namespace eckart::settings {
namespace {

using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

Configuration load_watches(std::string_view yaml, Configuration base = {}) {
  return load_configuration(TempFile(yaml).path(), std::move(base));
}

std::vector<WatchSettings> watches(std::string_view yaml) {
  return resolve_watches(load_watches(yaml));
}

constexpr std::string_view kOneWatch = "watches: [{input: /a, output: /b}]\n";

/// A watch in which every value differs from its default.
constexpr std::string_view kAllNonDefaultWatch = R"(
rank: 3
watches:
- input: {folder: '/srv/my "photos"', decoder: opencv, size: max:300}
  output: {folder: "/srv/o\nut", format: jpeg, name: "{stem}_.{ext}", jpeg_quality: 90}
  name: a.B_1-c
  settle_ms: 0
  retry_timeout_s: 86400
  rescan_s: 1
  poll_s: 2
  after: move
  move_to: /srv/done
  links: files
  exclude: [b, "c,d"]
  quarantine: {keep_days: 7, max_mb: 0}
  rank: [5, 20]
  limits: {pixels: 1, side: 2, file_mb: 3, decode_mb: 4, decode_s: 5}
  durability: none
  ledger: l.db
- input: /srv/scans
  output: /srv/scans-out
)";

TEST(Watch, has_defaults_for_all_keys_but_its_folders) {
  const std::vector<WatchSettings> found = watches(kOneWatch);
  ASSERT_THAT(found, SizeIs(1));
  const WatchSettings& watch = found[0];
  EXPECT_EQ(watch.input, "/a");
  EXPECT_EQ(watch.output, "/b");
  EXPECT_EQ(watch.settle_ms, 1000);
  EXPECT_EQ(watch.retry_timeout_s, 30);
  EXPECT_EQ(watch.rescan_s, 300);
  EXPECT_EQ(watch.poll_s, 5);
  EXPECT_EQ(watch.after, DoneInputAction::keep);
  EXPECT_EQ(watch.move_to, "");
  EXPECT_EQ(watch.links, files::LinkPolicy::none);
  EXPECT_THAT(watch.exclude, IsEmpty());
  EXPECT_EQ(watch.quarantine.keep_days, 30);
  EXPECT_EQ(watch.quarantine.max_mb, 1024);
  EXPECT_EQ(to_yaml(watch.settings), to_yaml(Settings{}));
}

TEST(Watch, overrides_every_key_that_may_differ) {
  const std::vector<WatchSettings> found = watches(kAllNonDefaultWatch);
  ASSERT_THAT(found, SizeIs(2));
  const WatchSettings& watch = found[0];
  EXPECT_EQ(watch.input, "/srv/my \"photos\"");
  EXPECT_EQ(watch.output, "/srv/o\nut");
  EXPECT_EQ(watch.settle_ms, 0);
  EXPECT_EQ(watch.retry_timeout_s, 86400);
  EXPECT_EQ(watch.rescan_s, 1);
  EXPECT_EQ(watch.poll_s, 2);
  EXPECT_EQ(watch.after, DoneInputAction::move);
  EXPECT_EQ(watch.move_to, "/srv/done");
  EXPECT_EQ(watch.links, files::LinkPolicy::files);
  EXPECT_THAT(watch.exclude, ElementsAre("b", "c,d"));
  EXPECT_EQ(watch.quarantine.keep_days, 7);
  EXPECT_EQ(watch.quarantine.max_mb, 0);
  EXPECT_EQ(watch.settings.ranks, parse_ranks("5,20"));
  EXPECT_EQ(watch.settings.input.decoder, Decoder::opencv);
  EXPECT_EQ(watch.settings.input.size, TargetSize::at_most(300));
  EXPECT_EQ(watch.settings.output.format, OutputFormat::jpeg);
  EXPECT_EQ(watch.settings.output.name, "{stem}_.{ext}");
  EXPECT_EQ(watch.settings.output.jpeg_quality, 90);
  EXPECT_EQ(watch.settings.limits.pixels, 1);
  EXPECT_EQ(watch.settings.limits.side, 2);
  EXPECT_EQ(watch.settings.limits.file_mb, 3);
  EXPECT_EQ(watch.settings.limits.decode_mb, 4);
  EXPECT_EQ(watch.settings.limits.decode_s, 5);
  EXPECT_EQ(watch.settings.durability, Durability::none);
  EXPECT_EQ(watch.settings.ledger, FileChoice::at("l.db"));
  EXPECT_EQ(found[1].settings.ranks, parse_ranks("3"));
  EXPECT_EQ(found[1].settings.input.decoder, Decoder::strict);
}

TEST(Watch, has_its_name_or_else_a_unique_name_from_its_input_folder) {
  const std::vector<WatchSettings> found = watches(
      "watches: [{input: /x/scans, output: /a}, {input: /y/scans/, output: /b},"
      "{input: /z/scans, output: /c, name: scans-2}, {input: /p q, output: /d},"
      "{input: /srv, output: /e, name: Photos_v1.2}, {input: /, output: /f}, {input: /v, output: "
      "/g, name: ''}]");
  std::vector<std::string> names;
  for (const WatchSettings& watch : found) names.push_back(watch.name);
  EXPECT_THAT(names,
              ElementsAre("scans", "scans-3", "scans-2", "p-q", "Photos_v1.2", "watch", "v"));
}

TEST(Watch, has_a_name_of_at_most_64_bytes) {
  const std::string longest(64, 'n');
  EXPECT_EQ(watches("watches: [{input: /a, output: /b, name: " + longest + "}]")[0].name, longest);
  EXPECT_THROW(watches("watches: [{input: /a, output: /b, name: " + longest + "n}]"),
               SettingsError);
  const std::string folder(100, 'f');
  const std::vector<WatchSettings> found = watches(
      "watches: [{input: /a/" + folder + ", output: /b}, {input: /b/" + folder + ", output: /c}]");
  EXPECT_EQ(found[0].name, std::string(60, 'f'));
  EXPECT_EQ(found[1].name, std::string(60, 'f') + "-2");
}

TEST(Watch, has_absolute_folders_if_it_is_of_the_command_line) {
  Configuration configuration;
  configuration.watches = {watch_of("in", "/out/")};
  apply(configuration.settings, "rank=9");
  const WatchSettings watch = resolve_watches(configuration).at(0);
  EXPECT_EQ(watch.input, std::filesystem::absolute("in"));
  EXPECT_EQ(watch.output, "/out/");
  EXPECT_EQ(watch.name, "in");
  EXPECT_EQ(watch.settings.ranks, parse_ranks("9"));
  EXPECT_EQ(watch.location, "command line");
}

TEST(Watch, has_its_source_location) {
  const std::vector<WatchSettings> found = watches(kAllNonDefaultWatch);
  EXPECT_THAT(found[0].location, EndsWith(".yaml:4: watches[1]"));
  EXPECT_THAT(found[1].location, EndsWith(".yaml:20: watches[2]"));
}

TEST(Watch, is_absent_in_an_empty_or_missing_list) {
  for (const std::string_view yaml : {"", "watches:\n", "watches: []", "watches: ~"}) {
    EXPECT_THAT(watches(yaml), IsEmpty()) << yaml;
  }
}

TEST(Watch, accepts_the_input_folder_with_other_keys_or_alone) {
  for (const char* input : {"input: /a", "input: {folder: /a}", "input.folder: /a"}) {
    const std::string yaml = "watches: [{" + std::string(input) + ", output: /b}]";
    EXPECT_EQ(watches(yaml).at(0).input, "/a") << yaml;
  }
  const WatchSettings watch =
      watches("watches: [{input: {decoder: opencv, folder: /a}, output: /b}]").at(0);
  EXPECT_EQ(watch.input, "/a");
  EXPECT_EQ(watch.settings.input.decoder, Decoder::opencv);
}

TEST(Watch, accepts_the_output_folder_alone) {
  EXPECT_EQ(watches("watches: [{input: /a, output: {folder: /b}}]")[0].output, "/b");
  EXPECT_EQ(watches("watches: [{input: /a, output.folder: /b}]")[0].output, "/b");
}

TEST(Watch, excludes_one_folder_or_several) {
  const auto exclude = [](const std::string& value) {
    return watches("watches: [{input: /a, output: /b, exclude: " + value + "}]")[0].exclude;
  };
  EXPECT_THAT(exclude("[]"), IsEmpty());
  EXPECT_THAT(exclude("x"), ElementsAre("x"));
  EXPECT_THAT(exclude("[x, ..y/z]"), ElementsAre("x", "..y/z"));
  EXPECT_THAT(exclude("[./x//y/]"), ElementsAre("x/y"));
}

TEST(Watch, may_share_an_input_that_both_keep) {
  EXPECT_THAT(watches("watches: [{input: /a, output: /b}, {input: /a, output: /c}]"), SizeIs(2));
}

TEST(WatchOverride, replaces_global_settings_in_any_order) {
  for (const std::string_view yaml :
       {"rank: 5\nlimits: {side: 6}\nwatches: [{input: /a, output: /b, rank: 7}]\n",
        "watches: [{input: /a, output: /b, rank: 7}]\nlimits: {side: 6}\nrank: 5\n"}) {
    const WatchSettings watch = watches(yaml)[0];
    EXPECT_EQ(watch.settings.ranks, parse_ranks("7")) << yaml;
    EXPECT_EQ(watch.settings.limits.side, 6) << yaml;
  }
}

TEST(WatchOverride, replaces_set_options) {
  Configuration configuration =
      load_watches("watches: [{input: /a, output: /b, rank: 7}, {input: /a, output: /c}]");
  apply(configuration.settings, "rank=9");
  const std::vector<WatchSettings> found = resolve_watches(configuration);
  EXPECT_EQ(found[0].settings.ranks, parse_ranks("7"));
  EXPECT_EQ(found[1].settings.ranks, parse_ranks("9"));
}

TEST(WatchOverride, is_replaced_by_that_of_a_later_file) {
  const Configuration system =
      load_watches("rank: 5\nwatches: [{input: /a, output: /b, rank: 7}]\n");
  const auto with = [&system](std::string_view yaml) {
    return resolve_watches(load_watches(yaml, system));
  };
  const std::vector<WatchSettings> replaced = with("watches: [{input: /c, output: /d}]");
  ASSERT_THAT(replaced, SizeIs(1));
  EXPECT_EQ(replaced[0].input, "/c");
  EXPECT_EQ(replaced[0].settings.ranks, parse_ranks("5"));
  EXPECT_THAT(with("watches: []"), IsEmpty());

  const std::vector<WatchSettings> kept = with("limits: {side: 6}");
  ASSERT_THAT(kept, SizeIs(1));
  EXPECT_EQ(kept[0].settings.ranks, parse_ranks("7"));
  EXPECT_EQ(kept[0].settings.limits.side, 6);
}

TEST(WatchYaml, is_read_back_unchanged) {
  for (const std::string_view yaml : {std::string_view(), kOneWatch, kAllNonDefaultWatch}) {
    const std::string printed = to_yaml(load_watches(yaml));
    const Configuration again = load_watches(printed);
    EXPECT_EQ(to_yaml(again), printed);
    const std::vector<WatchSettings> before = watches(yaml), after = resolve_watches(again);
    ASSERT_EQ(after.size(), before.size());
    for (std::size_t i = 0; i < after.size(); ++i) {
      EXPECT_EQ(after[i].name, before[i].name);
      EXPECT_EQ(after[i].input, before[i].input);
      EXPECT_EQ(after[i].output, before[i].output);
      EXPECT_EQ(after[i].exclude, before[i].exclude);
      EXPECT_EQ(to_yaml(after[i].settings), to_yaml(before[i].settings));
    }
  }
}

TEST(WatchYaml, has_every_value_of_a_watch) {
  const WatchSettings watch = resolve_watches(load_watches(to_yaml(load_watches(
      "watches: [{input: /a, output: /b, settle_ms: 1, retry_timeout_s: 2, rescan_s: 3, "
      "poll_s: 4, after: move, move_to: /c, on_change: reprocess, links: all, "
      "exclude: [d, 'e,f'], quarantine: {keep_days: 5, max_mb: 6}}]"))))[0];
  EXPECT_EQ(watch.settle_ms, 1);
  EXPECT_EQ(watch.retry_timeout_s, 2);
  EXPECT_EQ(watch.rescan_s, 3);
  EXPECT_EQ(watch.poll_s, 4);
  EXPECT_EQ(watch.after, DoneInputAction::move);
  EXPECT_EQ(watch.move_to, "/c");
  EXPECT_EQ(watch.on_change, OnChange::reprocess);
  EXPECT_EQ(watch.links, files::LinkPolicy::all);
  EXPECT_THAT(watch.exclude, ElementsAre("d", "e,f"));
  EXPECT_EQ(watch.quarantine.keep_days, 5);
  EXPECT_EQ(watch.quarantine.max_mb, 6);
  EXPECT_FALSE(watch.keeps_inputs());
}

TEST(WatchYaml, omits_keys_that_a_watch_does_not_override) {
  Configuration again = load_watches(to_yaml(load_watches(kAllNonDefaultWatch)));
  apply(again.settings, "rank=9");
  const std::vector<WatchSettings> found = resolve_watches(again);
  EXPECT_EQ(found[0].settings.ranks, parse_ranks("5,20"));
  EXPECT_EQ(found[1].settings.ranks, parse_ranks("9"));
}

TEST(WatchYaml, comments_every_key) {
  const std::string yaml = to_yaml(load_watches(kOneWatch));
  EXPECT_THAT(yaml, HasSubstr("\n  - input:\n      folder: \"/a\""));
  EXPECT_THAT(yaml, HasSubstr("\n    output:\n      folder: \"/b\""));
  EXPECT_THAT(yaml, HasSubstr("\n    settle_ms: 1000           # a file is ready when"));
  EXPECT_THAT(yaml, Not(HasSubstr("\n    rank:")));
}

TEST(WatchConfig, is_valid) {
  const std::vector<WatchSettings> found = resolve_watches(load_configuration(ECKART_WATCH_CONFIG));
  ASSERT_THAT(found, SizeIs(2));
  EXPECT_EQ(found[0].settings.ranks, parse_ranks("20"));
  EXPECT_EQ(found[1].settings.ranks, parse_ranks("5,20"));
}

TEST(WatchConfig, has_every_watch_key) {
  const auto keys = [](const WatchOverrides& layer) {
    std::vector<std::string> said;
    for (const Assignment& assignment : layer.assignments) said.push_back(assignment.key);
    return said;
  };
  const Configuration example = load_configuration(ECKART_WATCH_CONFIG);
  const Configuration printed = load_watches(to_yaml(load_watches(kOneWatch)));
  EXPECT_THAT(keys(example.watches.at(1)), IsSupersetOf(keys(printed.watches.at(0))));
}

}  // namespace
}  // namespace eckart::settings
