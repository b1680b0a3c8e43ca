#include "app/output_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "settings/settings.hpp"

namespace eckart::app {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

settings::Settings settings_with(const std::vector<std::string>& assignments) {
  settings::Settings settings;
  for (const std::string& assignment : assignments) settings::apply(settings, assignment);
  return settings;
}

TEST(EncodeOption, is_that_of_the_settings) {
  const EncodeOptions options =
      encode_options(settings_with({"output.jpeg_quality=81", "output.webp_quality=72",
                                    "output.jpeg_subsampling=4:2:0", "output.jpeg_progressive=true",
                                    "output.png=small"})
                         .output);
  EXPECT_EQ(options.jpeg_quality, 81);
  EXPECT_EQ(options.webp_quality, 72);
  EXPECT_EQ(options.jpeg_subsampling, JpegSubsampling::k420);
  EXPECT_TRUE(options.jpeg_progressive);
  EXPECT_FALSE(options.jpeg_optimize);
  EXPECT_EQ(options.png, PngCompression::small);
  EXPECT_TRUE(encode_options(settings_with({"output.jpeg_optimize=true"}).output).jpeg_optimize);
}

std::vector<std::string> names_with(const std::vector<std::string>& assignments) {
  std::vector<std::string> names;
  for (const auto& path :
       make_output_tree(settings_with(assignments), "out").value().outputs_of("a.tif"))
    names.push_back(path);
  return names;
}

TEST(OutputTree, has_a_file_for_each_rank_residual_and_the_factors) {
  EXPECT_THAT(names_with({}), ElementsAre("out/a.png"));
  EXPECT_THAT(names_with({"output.format=jpeg"}), ElementsAre("out/a.jpg"));
  EXPECT_THAT(names_with({"rank=5,20"}), ElementsAre("out/a.k5.png", "out/a.k20.png"));
  EXPECT_THAT(names_with({"output.name={stem}_{rank}.{ext}", "rank=7"}), SizeIs(1));
  EXPECT_THAT(names_with({"output.factors=float32"}), SizeIs(2));
  EXPECT_THAT(names_with({"output.residual=auto", "rank=5,20"}), SizeIs(4));
  EXPECT_THAT(names_with({"output.format=none", "output.factors=float32", "rank=5,20"}),
              ElementsAre("out/a.npz"));
  EXPECT_FALSE(make_output_tree(settings_with({"output.format=none"}), "out"));
}

/// A change of any of these makes other bytes, so that outputs of before are not those of now.
TEST(OutputSetting, has_another_text_if_it_changes_the_bytes) {
  const std::vector<std::string> texts = output_settings({});
  ASSERT_THAT(texts, SizeIs(1));
  std::set<std::string> all(texts.begin(), texts.end());
  const std::vector<std::vector<std::string>> changes = {
      {"rank=7"},
      {"color=luma"},
      {"input.gray=true"},
      {"input.size=max:300"},
      {"input.normalize=minmax"},
      {"input.decoder=opencv"},
      {"input.alpha=white"},
      {"output.format=tiff"},
      {"output.format=jpeg"},
      {"output.format=jpeg", "output.jpeg_quality=50"},
      {"output.format=jpeg", "output.jpeg_subsampling=4:2:0"},
      {"output.format=jpeg", "output.jpeg_progressive=true"},
      {"output.format=jpeg", "output.jpeg_optimize=true"},
      {"output.format=webp"},
      {"output.format=webp", "output.webp_quality=50"},
      {"output.png=small"},
      {"output.metadata=none"},
      {"output.stamp=false"},
      {"solver=gesvd"},
      {"certificate=bound"},
      {"deterministic=true"},
      {"rank=psnr:30"},
      {"rank=psnr:30", "quality.peak=4095"},
      {"color=ycbcr", "chroma_rank=3"}};
  for (const auto& change : changes) {
    const std::vector<std::string> changed = output_settings(settings_with(change));
    ASSERT_THAT(changed, SizeIs(1));
    EXPECT_TRUE(all.insert(changed.front()).second) << change.back() << ": " << changed.front();
  }
  for (const char* same :
       {"threads.load=3", "backend=cpu", "durability=none", "budget_mb=5",
        "output.name=x_{stem}.{ext}", "quality.measure=full", "output.times=keep"})
    EXPECT_EQ(output_settings(settings_with({same})), texts) << same;
}

TEST(OutputSetting, has_a_text_for_each_output_in_their_order) {
  const auto count = [](const std::vector<std::string>& assignments) {
    const settings::Settings settings = settings_with(assignments);
    EXPECT_EQ(output_settings(settings).size(),
              make_output_tree(settings, "out")->outputs_of("a.png").size());
    const std::vector<std::string> texts = output_settings(settings);
    return std::set<std::string>(texts.begin(), texts.end()).size();
  };
  EXPECT_EQ(count({"rank=5,20"}), 2U);
  EXPECT_EQ(count({"rank=5,20", "output.residual=4"}), 4U);
  EXPECT_EQ(count({"rank=5,20", "output.residual=4", "output.factors=float16"}), 5U);
  EXPECT_EQ(count({"output.format=none", "output.factors=float16"}), 1U);
  const std::vector<std::string> both = output_settings(settings_with({"rank=5,20"}));
  EXPECT_EQ(both[1], output_settings(settings_with({"rank=20"}))[0]) << "a rank may be added";
  EXPECT_EQ(output_settings(settings_with({"rank=5,20", "output.residual=4"}))[0], both[0]);
}

TEST(FactorsSetting, is_that_of_the_largest_ranks_and_of_any_type) {
  EXPECT_EQ(factors_settings(settings_with({"rank=5,20"})),
            factors_settings(settings_with({"rank=20", "output.factors=float16"})));
  EXPECT_NE(factors_settings(settings_with({"rank=5"})),
            factors_settings(settings_with({"rank=20"})));
}

}  // namespace
}  // namespace eckart::app
