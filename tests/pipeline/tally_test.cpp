#include "pipeline/tally.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "core/quality.hpp"
#include "tests/pipeline/fakes.hpp"

namespace eckart::test {
namespace {

/// Returns a done image with one output for each of these squared errors.
pipeline::ItemPtr done(const std::vector<double>& squared_errors, double loss_estimate_db = 0) {
  static constexpr RankPolicy kRanks[] = {{5}, {20}, {50}};
  pipeline::ItemPtr item = make_item(0);
  item->output_ranks = std::span(kRanks).first(squared_errors.size());
  item->task.results.clear();
  for (const double squared_error : squared_errors) {
    item->outputs.emplace_back("out.png");
    item->task.results.push_back(
        {{.squared_error = squared_error, .loss_estimate_db = loss_estimate_db}});
  }
  return item;
}

void count(pipeline::Tally& tally, const pipeline::ItemPtr& item) { tally.count({&item, 1}); }

double psnr(double squared_error) { return psnr_db(squared_error, kSmall.samples(), 255); }

TEST(Tally, reports_the_psnr_of_each_rank) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  count(tally, done({400, 100}));
  count(tally, done({1600, 25}));
  const std::vector<telemetry::RankSummary> ranks = tally.report().ranks;
  ASSERT_EQ(ranks.size(), 2u);
  EXPECT_EQ(ranks[0].rank, "5");
  EXPECT_EQ(ranks[0].outputs, 2);
  EXPECT_DOUBLE_EQ(ranks[0].psnr_db.mean(), (psnr(400) + psnr(1600)) / 2);
  EXPECT_DOUBLE_EQ(ranks[0].psnr_db.min(), psnr(1600));
  EXPECT_EQ(ranks[1].rank, "20");
  EXPECT_DOUBLE_EQ(ranks[1].psnr_db.mean(), (psnr(100) + psnr(25)) / 2);
  EXPECT_DOUBLE_EQ(ranks[1].psnr_db.min(), psnr(100));
}

TEST(Tally, reports_quality_and_cost_of_the_files_of_each_rank) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  for (const double file_squared_error : {900, 400, 100}) {
    const pipeline::ItemPtr item = done({25, 100});
    item->compute_time = std::chrono::milliseconds(3);
    item->output_bytes = {1000, 2000};
    item->qualities.resize(2);
    item->qualities[0] = {.file_squared_error = file_squared_error,
                          .ssim = 0.5,
                          .write_time = std::chrono::milliseconds(2)};
    count(tally, item);
  }
  const std::vector<telemetry::RankSummary> ranks = tally.report().ranks;
  EXPECT_NEAR(ranks[0].file_psnr_db.median(), psnr(400), 0.006);
  EXPECT_DOUBLE_EQ(ranks[0].file_psnr_db.min(), psnr(900));
  EXPECT_EQ(ranks[0].ssim.count(), 3);
  EXPECT_EQ(ranks[0].output_bytes, 3000);
  EXPECT_DOUBLE_EQ(ranks[0].compute_s, 0.009);
  EXPECT_DOUBLE_EQ(ranks[0].write_s, 0.006);
  EXPECT_EQ(ranks[1].file_psnr_db.count(), 0) << "not measured";
  EXPECT_EQ(ranks[1].output_bytes, 6000);
}

TEST(Tally, uses_the_peak_of_the_image) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({100});
  item->task.peak = 51;
  count(tally, item);
  EXPECT_DOUBLE_EQ(tally.report().psnr_db_mean, psnr(100) - 20 * std::log10(5));
}

TEST(Tally, reports_min_and_mean_psnr) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  count(tally, done({100, 400}));
  count(tally, done({1600}));
  count(tally, done({25}));
  const telemetry::RunReport report = tally.report();
  EXPECT_EQ(report.outputs, 4);
  EXPECT_DOUBLE_EQ(report.psnr_db_min, psnr(1600));
  EXPECT_DOUBLE_EQ(report.psnr_db_mean, (psnr(100) + psnr(400) + psnr(1600) + psnr(25)) / 4);
}

TEST(Tally, counts_an_exact_output_as_99_db) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  count(tally, done({0}));
  EXPECT_DOUBLE_EQ(tally.report().psnr_db_min, 99);
  count(tally, done({100}));
  EXPECT_DOUBLE_EQ(tally.report().psnr_db_min, psnr(100));
  EXPECT_DOUBLE_EQ(tally.report().psnr_db_mean, (99 + psnr(100)) / 2);
}

TEST(Tally, counts_outputs_above_99_db_as_they_are) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({1});
  item->task.peak = 1e6;
  count(tally, item);
  EXPECT_GT(tally.report().psnr_db_mean, 120);
}

TEST(Tally, reports_the_max_loss_estimate) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  count(tally, done({100}, 0.002));
  count(tally, done({100}, 0.004));
  count(tally, done({100}, 0.001));
  EXPECT_DOUBLE_EQ(tally.report().max_loss_estimate_db, 0.004);
}

/// The first output may be full-rank, a copy of the input: it is never recomputed.
TEST(Tally, counts_a_plane_that_was_recomputed_for_any_output_once) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  pipeline::ItemPtr item = done({0, 100, 100});
  item->task.results[1][0].is_recomputed = item->task.results[2][0].is_recomputed = true;
  count(tally, item);
  count(tally, done({100}));
  EXPECT_EQ(tally.report().planes_recomputed, 1);
}

TEST(Tally, keeps_the_last_twenty_failures) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  for (int number = 0; number < 25; ++number) {
    const pipeline::ItemPtr item = make_item(number);
    item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "as the test wants it");
    count(tally, item);
  }
  telemetry::Snapshot snapshot;
  tally.add_to(snapshot);
  ASSERT_EQ(snapshot.recent_failures.size(), 20U);
  EXPECT_EQ(snapshot.recent_failures.front().file, "24");
  EXPECT_EQ(snapshot.recent_failures.back().file, "5");
  EXPECT_EQ(snapshot.counts.failed, 25);
}

TEST(Tally, does_not_count_deferred_images_twice) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  for (int number = 0; number < 3; ++number) tally.add_found({});
  const pipeline::ItemPtr item = make_item(0);
  item->outcome = Outcome::incomplete(Stage::load, FailureReason::corrupt, "half of it is there");
  count(tally, item);
  EXPECT_EQ(tally.progress().total, 2);
  EXPECT_EQ(tally.progress().done, 0);
}

TEST(Tally, has_no_psnr_where_nothing_was_written) {
  pipeline::Meters meters;
  const telemetry::RunReport report = pipeline::Tally(meters).report();
  EXPECT_EQ(report.outputs, 0);
  EXPECT_EQ(report.psnr_db_min, 0);
  EXPECT_EQ(report.psnr_db_mean, 0);
}

}  // namespace
}  // namespace eckart::test
