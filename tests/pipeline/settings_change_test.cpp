#include "pipeline/settings_change.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace eckart::test {
namespace {

TEST(SettingsText, names_all_settings_that_affect_an_output) {
  EXPECT_EQ(pipeline::settings_text({.ranks = {20}}), "png, solver auto, rank 20")
      << "as in earlier versions";
  const PeakChoice peak{PeakSource::number, 4095};
  EXPECT_EQ(pipeline::settings_text({.ranks = {20}, .peak = peak}),
            pipeline::settings_text({.ranks = {20}}))
      << "it changes only what is reported";
  EXPECT_EQ(pipeline::settings_text({.ranks = {{RankPolicy::Kind::psnr, 35}}, .peak = peak}),
            "png, solver auto, rank psnr:35, peak 4095");
  EXPECT_EQ(pipeline::settings_text(
                {.ranks = {{RankPolicy::Kind::psnr, 35}}, .peak = {PeakSource::dtype}}),
            "png, solver auto, rank psnr:35, peak dtype")
      << "for DICOM it is not the peak of auto";
  EXPECT_EQ(pipeline::settings_text({.ranks = {20}, .peak = {PeakSource::dtype}}),
            pipeline::settings_text({.ranks = {20}}));
  EXPECT_EQ(pipeline::settings_text({.color = ColorMode::ycbcr,
                                     .chroma_rank = RankPolicy{RankPolicy::Kind::psnr, 30},
                                     .ranks = {20},
                                     .peak = peak}),
            "png, solver auto, color ycbcr, chroma_rank psnr:30, rank 20, peak 4095");
  EXPECT_EQ(
      pipeline::settings_text({.format = OutputFormat::jpeg,
                               .solver = SolverKind::gram,
                               .certificate = Certificate::bound,
                               .is_deterministic = true,
                               .encode = {.jpeg_quality = 90},
                               .decoder = Decoder::opencv,
                               .alpha = AlphaPolicy::white,
                               .preparation = {.gray = true,
                                               .size = TargetSize::exactly(256, 128),
                                               .normalize = Normalization::minmax},
                               .ranks = {7}}),
      "jpeg, solver gram, certificate bound, deterministic, quality 90, decoder opencv, alpha "
      "white, gray, size 256x128, normalize minmax, rank 7");
  EXPECT_EQ(pipeline::settings_text({.format = OutputFormat::webp, .ranks = {20}}),
            "webp, solver auto, quality lossless, rank 20");
  EXPECT_EQ(pipeline::settings_text(
                {.format = OutputFormat::webp, .encode = {.webp_quality = 80}, .ranks = {20}}),
            "webp, solver auto, quality 80, rank 20");
  EXPECT_EQ(pipeline::settings_text({.metadata = MetadataPolicy::none,
                                     .ranks = {20, {RankPolicy::Kind::psnr, 35}},
                                     .factors = FactorType::float16}),
            "npz, solver auto, factors float16, rank 20,psnr:35");
}

TEST(SettingsText, names_settings_of_files_that_are_not_the_default) {
  EXPECT_EQ(pipeline::settings_text({.format = OutputFormat::jpeg,
                                     .encode = {.jpeg_quality = 90,
                                                .jpeg_subsampling = JpegSubsampling::k420,
                                                .jpeg_progressive = true,
                                                .jpeg_optimize = true,
                                                .png = PngCompression::small},
                                     .metadata = MetadataPolicy::icc,
                                     .has_stamp = false,
                                     .ranks = {7}}),
            "jpeg, solver auto, quality 90, subsampling 4:2:0, progressive, optimized, "
            "metadata icc, unstamped, rank 7");
  EXPECT_EQ(pipeline::settings_text({.encode = {.jpeg_subsampling = JpegSubsampling::k420,
                                                .jpeg_progressive = true,
                                                .png = PngCompression::small},
                                     .ranks = {7}}),
            "png, solver auto, compression small, rank 7");
}

TEST(KeptFactors, needs_the_settings_of_the_decomposition) {
  constexpr std::string_view kNow = "npz, solver auto, factors float32, gray, rank 5,20";
  EXPECT_TRUE(pipeline::are_usable_factors(
      "npz, solver auto, factors float32, gray, chroma_rank 3, rank psnr:30, peak 4095", kNow));
  EXPECT_FALSE(
      pipeline::are_usable_factors("npz, solver auto, factors float16, gray, rank 20", kNow));
  EXPECT_FALSE(
      pipeline::are_usable_factors("npz, solver gram, factors float32, gray, rank 20", kNow));
  EXPECT_FALSE(pipeline::are_usable_factors("npz, solver auto, factors float32, rank 20", kNow));
  EXPECT_FALSE(pipeline::are_usable_factors("png, solver auto, gray, rank 20", kNow)) << "an image";
}

TEST(SettingsDifference, lists_changed_settings) {
  EXPECT_EQ(pipeline::settings_difference("png, solver auto, rank 20", "png, solver auto, rank 7"),
            "rank 20 -> 7");
  EXPECT_EQ(
      pipeline::settings_difference("png, solver auto, rank 7",
                                    "jpeg, solver gram, deterministic, quality 90, rank 7"),
      "deterministic none -> on, format png -> jpeg, quality none -> 90, solver auto -> gram");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, decoder opencv, rank 7"),
            "decoder strict -> opencv");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, certificate bound, rank 7"),
            "certificate estimate -> bound");
  EXPECT_EQ(pipeline::settings_difference("png, size max:300, rank 7", "png, gray, rank 7"),
            "gray none -> on, size max:300 -> none");
  EXPECT_EQ(pipeline::settings_difference(
                "jpeg, quality 90, rank 7",
                "jpeg, quality 90, subsampling 4:2:0, progressive, metadata none, rank 7"),
            "metadata keep -> none, progressive none -> on, subsampling keep -> 4:2:0");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, compression small, rank 7"),
            "compression fast -> small");
  EXPECT_EQ(pipeline::settings_difference("", "png, rank 7"), "settings that were not recorded");
}

TEST(SettingsDifference, knows_the_values_that_are_not_in_the_text) {
  const auto difference_of = [](const std::string& setting) {
    return pipeline::settings_difference("png, rank 7", "png, " + setting + ", rank 7");
  };
  EXPECT_EQ(difference_of("chroma_rank 5"), "chroma_rank that of rank -> 5");
  EXPECT_EQ(difference_of("alpha white"), "alpha keep -> white");
  EXPECT_EQ(difference_of("color ycbcr"), "color channels -> ycbcr");
  EXPECT_EQ(difference_of("peak 4095"), "peak auto -> 4095");
  EXPECT_EQ(difference_of("unstamped"), "unstamped none -> on");
}

/// Gray is a preparation, and its matrices are those of channels.
TEST(SettingsText, has_color_modes_that_change_the_matrices) {
  EXPECT_EQ(pipeline::settings_text({.color = ColorMode::luma, .ranks = {7}}),
            "png, solver auto, color luma, rank 7");
  EXPECT_EQ(pipeline::settings_text({.color = ColorMode::gray, .ranks = {7}}),
            "png, solver auto, rank 7");
}

TEST(SettingsText, has_the_residual) {
  pipeline::PixelSettings settings{.ranks = {7}};
  settings.residual = {.gain = ResidualGain::number, .number = 4};
  EXPECT_EQ(pipeline::settings_text(settings), "png, solver auto, residual 4, rank 7");
}

}  // namespace
}  // namespace eckart::test
