#include "reports/measurement_summary.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "text/json.hpp"

namespace eckart::reports {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr double kExact = std::numeric_limits<double>::infinity();

telemetry::OutputMeasurement measured(const std::string& spec, int rank, double psnr_db) {
  telemetry::OutputMeasurement output;
  output.rank_spec = spec;
  output.rank = rank;
  output.total_energy = 0.85;
  output.psnr_db = psnr_db;
  output.ssim = 0.5;
  output.factor_bytes = 100 * rank;
  return output;
}

TEST(MeasurementSummary, tells_the_rank_that_99_percent_of_the_images_need) {
  MeasurementSummary summary({"psnr:35", "20"});
  for (int image = 1; image <= 200; ++image) summary.add(measured("psnr:35", image, 35.2));
  const MeasurementSummary::SpecSummary& target = summary.specs().front();
  EXPECT_EQ(target.rank.percentile(MeasurementSummary::kAlmostAll), 198);
  EXPECT_EQ(target.rank.percentile(MeasurementSummary::kLow), 10);
  EXPECT_EQ(target.rank.median(), 100.5);
  EXPECT_NEAR(target.energy.mean(), 0.85, 1e-9);
  const auto json = text::Json::parse(to_json(summary, 200, 1));
  EXPECT_EQ(json["ranks"][0]["rank_99_percent_need"], 198);
  EXPECT_EQ(json["ranks"][0]["images"], 200);
  EXPECT_TRUE(json["ranks"][1]["psnr_db"].is_null());  // no image
  EXPECT_EQ(json["failed"], 1);
}

TEST(MeasurementSummary, counts_exact_reconstructions_as_99_db) {
  MeasurementSummary summary({"20"});
  summary.add(measured("20", 20, kExact));
  summary.add(measured("20", 20, 35));
  EXPECT_EQ(summary.specs().front().psnr_db.mean(), 67);
}

/// SSIM is not known of an image that is smaller than its window.
TEST(MeasurementSummary, has_the_mean_of_what_is_known) {
  MeasurementSummary summary({"20"});
  telemetry::OutputMeasurement small = measured("20", 20, 35);
  small.ssim = small.total_energy = std::numeric_limits<double>::quiet_NaN();
  summary.add(small);
  summary.add(measured("20", 20, 35));
  EXPECT_EQ(summary.specs().front().ssim.mean(), 0.5);
  EXPECT_NEAR(summary.specs().front().energy.mean(), 0.85, 1e-9);
}

TEST(MeasurementSummary, keeps_values_above_that_of_an_exact_reconstruction) {
  MeasurementSummary summary({"20"});
  summary.add(measured("20", 20, 120));
  EXPECT_EQ(summary.specs().front().psnr_db.mean(), 120) << "16 bits and floats have them";
  summary.add_spectra(std::vector<std::vector<double>>{{3e6, 1}}, 4, 1e6);
  EXPECT_GT(summary.spectrum().front().psnr_db.mean(), 120);
}

TEST(MeasurementSummary, computes_energy_and_psnr_from_the_singular_values) {
  MeasurementSummary summary({"20"});
  const std::vector<std::vector<double>> spectra{{30, 10, 2}, {20, 10, 1}};
  summary.add_spectra(spectra, 12, 255);
  const auto spectrum = summary.spectrum();
  ASSERT_EQ(spectrum.size(), 2U);  // ranks 1 and 2; at 3 the image is exact
  EXPECT_NEAR(spectrum[0].energy.mean(), 1300.0 / 1505, 1e-12);
  EXPECT_NEAR(spectrum[1].energy.mean(), 1500.0 / 1505, 1e-12);
  EXPECT_NEAR(spectrum[0].psnr_db.mean(), 10 * std::log10(255.0 * 255 * 12 / 205), 1e-9);
  EXPECT_EQ(summary.knee().mean(), 2);
}

TEST(MeasurementSummary, leaves_images_out_whose_full_rank_is_not_higher) {
  MeasurementSummary summary({"20"});
  summary.add_spectra(std::vector<std::vector<double>>{{3, 2}}, 4, 255);
  summary.add_spectra(std::vector<std::vector<double>>{{9, 8, 7, 6, 5, 4, 3}}, 49, 255);
  const auto spectrum = summary.spectrum();
  ASSERT_EQ(spectrum.size(), 3U);
  EXPECT_EQ(spectrum[0].energy.count(), 2);
  EXPECT_EQ(spectrum[1].energy.count(), 1);
  EXPECT_EQ(spectrum[2].rank, 5);
  EXPECT_EQ(spectrum[2].energy.count(), 1);
}

TEST(MeasurementSummaryText, has_the_knee_only_with_spectra) {
  MeasurementSummary summary({"20"});
  summary.add(measured("20", 20, 35));
  EXPECT_THAT(to_text(summary), Not(HasSubstr("knee")));
  EXPECT_THAT(to_text(summary), HasSubstr("99 % need"));
  summary.add_spectra(std::vector<std::vector<double>>{{3, 2, 1}}, 9, 255);
  EXPECT_THAT(to_text(summary), HasSubstr("knee"));
}

/// 1 to 200: each column of a table has another number.
TEST(MeasurementSummary, has_every_value_in_its_place) {
  MeasurementSummary summary({"psnr:35"});
  for (int image = 1; image <= 200; ++image)
    summary.add(measured("psnr:35", 10 * image + (image > 100), 35.25));
  summary.add_spectra(std::vector<std::vector<double>>{{9, 8, 7, 6, 5, 4, 3}}, 49, 255);
  const auto json = text::Json::parse(to_json(summary, 200, 1));
  EXPECT_EQ(json["ranks"][0]["rank"]["mean"], 1005.5);
  EXPECT_EQ(json["ranks"][0]["rank"]["median"], 1005.5);
  EXPECT_EQ(json["ranks"][0]["rank"]["p5"], 100);
  EXPECT_EQ(json["ranks"][0]["rank"]["p95"], 1901);
  EXPECT_EQ(json["ranks"][0]["rank_99_percent_need"], 1981);
  EXPECT_EQ(json["done"], 200);
  ASSERT_EQ(json["spectrum"].size(), 3U);
  EXPECT_EQ(json["spectrum"][2]["rank"], 5);
  EXPECT_EQ(json["spectrum"][2]["images"], 1);
  EXPECT_NEAR(json["spectrum"][2]["energy"]["mean"].get<double>(), 255.0 / 280, 1e-4);
  EXPECT_NEAR(json["spectrum"][2]["psnr_before_rounding_db"]["mean"].get<double>(),
              10 * std::log10(255.0 * 255 * 49 / 25), 0.01);
  const std::string text = to_text(summary);
  EXPECT_THAT(
      text,
      HasSubstr(
          "\npsnr:35             1,006        1,006          100        1,901        1,981\n"));
  EXPECT_THAT(text, HasSubstr("\nrank                    " +
                              std::to_string(std::llround(summary.knee().mean())) + " "));
  EXPECT_THAT(text, HasSubstr("            1\n5 ")) << text;
}

TEST(MeasurementSummary, knows_all_energy_of_a_black_image) {
  MeasurementSummary summary({"20"});
  summary.add_spectra(std::vector<std::vector<double>>{{0, 0, 0}}, 9, 255);
  EXPECT_EQ(summary.spectrum().front().energy.mean(), 1);
  MeasurementSummary none({"20"});
  none.add_spectra(std::vector<std::vector<double>>{{}}, 9, 255);
  EXPECT_EQ(none.knee().count(), 0);
}

}  // namespace
}  // namespace eckart::reports
