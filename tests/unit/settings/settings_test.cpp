#include "settings/settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <initializer_list>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "core/rank_spec.hpp"
#include "settings/watches.hpp"
#include "temp_file.hpp"

namespace eckart::settings {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

Settings load(std::string_view yaml, Settings base = {}) {
  return load_configuration(TempFile(yaml).path(), {std::move(base), {}}).settings;
}

Settings settings_with(std::initializer_list<std::string_view> assignments) {
  Settings settings;
  for (const std::string_view assignment : assignments) apply(settings, assignment);
  return settings;
}

/// Returns settings in which every value differs from its default.
Settings all_non_default_settings() {
  Settings s;
  s.backend = BackendChoice::checked;
  s.solver = SolverKind::gesvdj;
  s.certificate = Certificate::bound;
  s.calibration = FileChoice::at("a \"b\".yaml");
  s.ranks = parse_ranks("5,10");
  s.color = ColorMode::ycbcr;
  s.chroma_rank = RankPolicy{7};
  s.input = {Decoder::opencv, AlphaPolicy::white, true, TargetSize::at_most(300),
             Normalization::minmax};
  s.output = {OutputFormat::jpeg,
              "\"{stem}\" \\ # \n\x1b\x7f ä\u0085\u202e\U000e0041.{ext}",
              80,
              90,
              JpegSubsampling::k420,
              true,
              true,
              PngCompression::small,
              MetadataPolicy::none,
              OutputTimes::keep,
              false,
              OutputPack::tar,
              {ResidualGain::number, 2.5},
              FactorType::float16};
  s.threads = {3, 4};
  s.batch = {7, 0, 16};
  s.cpu = {2};
  s.cuda = {{1, 0}, 2, 0.35};
  s.budget_mb = 16777216;
  s.limits = {1000000000000, 70000, 3, 4, 5};
  s.durability = Durability::none;
  s.wait_for_space = true;
  s.ledger = FileChoice::at("l.db");
  s.ledger_identity = LedgerIdentity::content;
  s.deterministic = true;
  s.timeouts = {7, 8};
  s.quality = {{PeakSource::number, 4095}, MeasureChoice::full};
  s.telemetry = {"logs/a b.jsonl", 0.5, 1, 0, "[::1]:9464"};
  return s;
}

TEST(DefaultConfig, matches_the_printed_defaults) {
  std::ifstream file(ECKART_DEFAULT_CONFIG, std::ios::binary);
  ASSERT_TRUE(file) << ECKART_DEFAULT_CONFIG;
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_EQ(text, to_yaml(Configuration{}));
}

TEST(DefaultConfig, has_the_defaults) {
  EXPECT_EQ(
      to_yaml(load_configuration(ECKART_DEFAULT_CONFIG, {all_non_default_settings(), {}}).settings),
      to_yaml(Settings{}));
}

TEST(SettingsYaml, is_read_back_unchanged) {
  const Settings before = all_non_default_settings();
  const Settings after = load(to_yaml(before));
  EXPECT_EQ(to_yaml(after), to_yaml(before));
  EXPECT_EQ(after.output.name, before.output.name);
  EXPECT_EQ(after.calibration, before.calibration);
  EXPECT_EQ(after.cuda.devices, before.cuda.devices);
  EXPECT_EQ(after.cuda.memory_fraction, before.cuda.memory_fraction);
  EXPECT_EQ(after.limits.pixels, before.limits.pixels);
}

TEST(SettingsYaml, prints_every_non_default_key) {
  const std::string defaults = to_yaml(Settings{});
  const std::string changed = to_yaml(all_non_default_settings());
  std::istringstream default_lines(defaults), changed_lines(changed);
  for (std::string a, b; std::getline(default_lines, a) && std::getline(changed_lines, b);) {
    const bool is_key = a.find('#') != std::string::npos;
    EXPECT_EQ(a != b, is_key) << a;
  }
}

TEST(SettingsYaml, prints_auto_and_all) {
  const std::string yaml = to_yaml(Settings{});
  EXPECT_THAT(yaml, HasSubstr("  load: auto "));
  EXPECT_THAT(yaml, HasSubstr("  devices: all "));
  EXPECT_THAT(yaml, HasSubstr("rank: \"20\" "));
}

TEST(ConfigurationFile, changes_nothing_if_empty_or_with_an_empty_section) {
  for (const std::string_view yaml :
       {"", "\n\n", "# only a comment\n", "---\n", "{}", "batch:\n#  pad: 8\n", "\xEF\xBB\xBF"}) {
    EXPECT_EQ(to_yaml(load(yaml, all_non_default_settings())), to_yaml(all_non_default_settings()))
        << yaml;
  }
}

TEST(ConfigurationFile, changes_only_the_given_keys) {
  Settings expected;
  expected.batch.linger_ms = 5;
  expected.deterministic = true;
  EXPECT_EQ(to_yaml(load("batch: {linger_ms: 5}\ndeterministic: true\n")), to_yaml(expected));
}

TEST(ConfigurationFile, may_have_windows_line_endings) {
  EXPECT_EQ(load("backend: cpu\r\nbatch:\r\n  pad: 8\r\n").batch.pad, 8);
}

TEST(ConfigurationFile, does_not_change_settings_by_its_watches) {
  EXPECT_EQ(to_yaml(load("rank: 5\nwatches: [{input: /a, output: /b, rank: 7}]\n")),
            to_yaml(settings_with({"rank=5"})));
}

TEST(Precedence, increases_with_later_files_and_then_set_options) {
  Settings settings = load("rank: 5\nbatch: {pad: 8, linger_ms: 1}\n");
  settings = load("batch: {linger_ms: 2}\nbudget_mb: 64\n", std::move(settings));
  apply(settings, "budget_mb=32");
  EXPECT_EQ(settings.ranks, parse_ranks("5"));
  EXPECT_EQ(settings.batch.pad, 8);
  EXPECT_EQ(settings.batch.linger_ms, 2);
  EXPECT_EQ(settings.budget_mb, 32);
}

TEST(SetOption, reads_a_bracket_as_text_when_no_list_is_accepted) {
  EXPECT_EQ(settings_with({"telemetry.listen=[::1]:9464"}).telemetry.listen, "[::1]:9464");
  EXPECT_EQ(settings_with({"rank=[5,20]"}).ranks, parse_ranks("5,20"));
}

TEST(ChangedSettings, lists_the_keys_that_differ_from_the_default) {
  EXPECT_THAT(changed(Settings{}), ::testing::IsEmpty());
  EXPECT_THAT(
      changed(settings_with({"rank=5", "batch.pad=8"})),
      ::testing::ElementsAre(::testing::Pair("rank", "\"5\""), ::testing::Pair("batch.pad", "8")));
}

TEST(RankList, is_a_number_a_text_or_a_list) {
  EXPECT_EQ(load("rank: 7").ranks, parse_ranks("7"));
  EXPECT_EQ(load("rank: '7,9'").ranks, parse_ranks("7,9"));
  EXPECT_EQ(load("rank: [7, '9']").ranks, parse_ranks("7,9"));
  EXPECT_EQ(load("rank:\n  - 7\n  - 9\n").ranks, parse_ranks("7,9"));
  EXPECT_EQ(settings_with({"rank=7,9"}).ranks, parse_ranks("7,9"));
  EXPECT_EQ(settings_with({"rank=[7, 9]"}).ranks, parse_ranks("7,9"));
}

TEST(DeviceList, is_all_one_or_a_list) {
  EXPECT_THAT(settings_with({"cuda.devices=1", "cuda.devices=all"}).cuda.devices, IsEmpty());
  EXPECT_THAT(settings_with({"cuda.devices=0"}).cuda.devices, ElementsAre(0));
  EXPECT_THAT(settings_with({"cuda.devices=2,0"}).cuda.devices, ElementsAre(2, 0));
  EXPECT_THAT(load("cuda: {devices: [2, 0]}").cuda.devices, ElementsAre(2, 0));
}

TEST(SetOption, resets_a_value_if_auto) {
  EXPECT_EQ(settings_with({"threads.load=8", "threads.load=auto"}).threads.load, kAuto);
}

TEST(SetOption, changes_only_its_key) {
  for (const auto& [key, value] : changed(all_non_default_settings()))
    EXPECT_THAT(changed(settings_with({key + "=" + value})), ElementsAre(Pair(key, value)));
}

/// Whatever is not listed here may differ between watches.
TEST(WatchOverride, may_be_every_key_that_does_not_concern_the_whole_service) {
  const std::set<std::string> of_the_service = {"backend",
                                                "solver",
                                                "certificate",
                                                "calibration",
                                                "output.pack",
                                                "threads.load",
                                                "threads.write",
                                                "batch.planes",
                                                "batch.linger_ms",
                                                "batch.pad",
                                                "cpu.lanes",
                                                "cuda.devices",
                                                "cuda.lanes",
                                                "cuda.memory_fraction",
                                                "budget_mb",
                                                "deterministic",
                                                "wait_for_space",
                                                "timeouts.stall_s",
                                                "timeouts.shutdown_s",
                                                "telemetry.throughput_log",
                                                "telemetry.interval_s",
                                                "telemetry.max_mb",
                                                "telemetry.keep",
                                                "telemetry.listen"};
  std::size_t refused = 0, accepted = 0;
  for (const auto& [key, value] : changed(all_non_default_settings())) {
    const TempFile file("watches: [{input: /a, output: /b, " + key + ": " + value + "}]\n");
    try {
      const std::vector<WatchSettings> found = resolve_watches(load_configuration(file.path()));
      EXPECT_THAT(changed(found.at(0).settings), ElementsAre(Pair(key, value)));
      EXPECT_FALSE(of_the_service.contains(key)) << key;
      ++accepted;
    } catch (const SettingsError& error) {
      EXPECT_THAT(
          error.what(),
          testing::EndsWith(key + ": applies to all watches: set it at the top level of the file"));
      EXPECT_TRUE(of_the_service.contains(key)) << key;
      ++refused;
    }
  }
  EXPECT_EQ(refused, of_the_service.size());
  EXPECT_GE(accepted, 28U);
}

TEST(SettingsYaml, is_parsed_again_with_all_values) {
  const Settings before = all_non_default_settings();
  EXPECT_EQ(to_yaml(parse_settings(to_yaml(before), "the ledger")), to_yaml(before));
}

TEST(Preparation, is_gray_by_its_key_or_by_the_color_mode) {
  EXPECT_FALSE(Settings{}.preparation().gray);
  EXPECT_TRUE(settings_with({"input.gray=true"}).preparation().gray);
  EXPECT_TRUE(settings_with({"color=gray"}).preparation().gray);
  EXPECT_FALSE(settings_with({"color=luma"}).preparation().gray);
}

TEST(OutputSetting, writes_files_unless_there_are_neither_images_nor_factors) {
  EXPECT_TRUE(Settings{}.output.writes_files());
  EXPECT_FALSE(settings_with({"output.format=none"}).output.writes_files());
  EXPECT_TRUE(
      settings_with({"output.format=none", "output.factors=float16"}).output.writes_files());
}

TEST(SetOption, accepts_both_range_limits) {
  EXPECT_EQ(settings_with({"batch.linger_ms=0"}).batch.linger_ms, 0);
  EXPECT_EQ(settings_with({"batch.linger_ms=60000"}).batch.linger_ms, 60000);
  EXPECT_EQ(settings_with({"cuda.memory_fraction=1"}).cuda.memory_fraction, 1.0);
  EXPECT_EQ(settings_with({"limits.pixels=1000000000000"}).limits.pixels, 1000000000000);
}

TEST(SetOption, accepts_a_template_without_yaml_quotes) {
  EXPECT_EQ(settings_with({"output.name={stem}_low.{ext}"}).output.name, "{stem}_low.{ext}");
  EXPECT_EQ(settings_with({"output.name=\"{stem}: {ext}\""}).output.name, "{stem}: {ext}");
  EXPECT_EQ(settings_with({"output.name=a=b"}).output.name, "a=b");
  EXPECT_EQ(settings_with({"output.name=x", "output.name="}).output.name, "");
}

TEST(SetOption, accepts_a_whole_section) {
  const Settings settings = settings_with({"batch={pad: 8, planes: 4}"});
  EXPECT_EQ(settings.batch.pad, 8);
  EXPECT_EQ(settings.batch.planes, 4);
  EXPECT_EQ(settings.batch.linger_ms, Settings{}.batch.linger_ms);
}

}  // namespace
}  // namespace eckart::settings
