#include "pipeline/tally.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/quality.hpp"
#include "machine/unix_time.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/log_capture.hpp"

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

/// Two outputs, a residual of each, and factors; the output of the first rank is kept.
TEST(Tally, counts_the_outputs_that_an_image_has_written) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({400, 100});
  item->outputs = {"5.png", "20.png", "5.residual.png", "20.residual.png", "a.npz"};
  item->has_factors = true;
  item->skipped_reports = {"{}", std::nullopt, std::nullopt, std::nullopt, std::nullopt};
  item->task.results[1][0].rank = 20;
  item->output_bytes = {0, 10, 200, 3000, 40000};
  item->qualities.resize(5);
  for (std::size_t i = 1; i < 5; ++i) item->qualities[i].write_time = std::chrono::seconds(i);
  item->input_bytes = 7;
  item->image_shape = {8, 4, 3, Depth::u8};
  item->matrices_shape = {8, 4, 1, Depth::u8};
  item->backend_encoded_outputs = 2;
  item->undecoded_format = ImageFormat::png;
  count(tally, item);
  const telemetry::RunReport report = tally.report();
  EXPECT_EQ(report.done, 1);
  EXPECT_EQ(report.outputs, 1);
  EXPECT_EQ(report.input_bytes, 7);
  EXPECT_EQ(report.output_bytes, 43210);
  EXPECT_EQ(report.pixels, 32);
  EXPECT_EQ(report.planes, 1) << "of the matrices";
  EXPECT_EQ(report.encoded_on_gpu, 2);
  EXPECT_EQ(report.decoded_on_gpu, 0) << "the CPU has decoded it in the end";
  ASSERT_EQ(report.ranks.size(), 2U);
  const auto rank_of = [&](const std::string& rank) {
    return *std::ranges::find(report.ranks, rank, &telemetry::RankSummary::rank);
  };
  EXPECT_EQ(rank_of("5").outputs, 0);
  EXPECT_EQ(rank_of("5").output_bytes, 200);
  EXPECT_EQ(rank_of("5").write_s, 2);
  EXPECT_EQ(rank_of("20").outputs, 1);
  EXPECT_EQ(rank_of("20").output_bytes, 43010);
  EXPECT_EQ(rank_of("20").write_s, 1 + 3 + 4);
}

/// Factors that are the only output count as one.
TEST(Tally, counts_factors_without_reconstructions_as_outputs) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({100});
  item->outputs = {"a.npz"};
  item->has_factors = true;
  item->task.encoded_input = std::make_shared<const compute::EncodedInput>(
      ByteBuffer(), compute::EncodedInput::EncodedImage(), nullptr);
  item->undecoded_format = ImageFormat::png;
  count(tally, item);
  EXPECT_EQ(tally.report().outputs, 1);
  EXPECT_EQ(tally.report().decoded_on_gpu, 1);
}

TEST(Tally, counts_each_result_and_its_failures) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const std::int64_t first = tally.add_found(Clock::now() - std::chrono::hours(1), 5);
  std::vector<pipeline::ItemPtr> items;
  for (int i = 0; i < 4; ++i) {
    items.push_back(done({100}));
    items.back()->number = first + i;
    items.back()->file = "image " + std::to_string(i);
    items.back()->found_at = Clock::now();
    items.back()->output_bytes = {9};
  }
  items[0]->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "no end");
  items[1]->outcome = Outcome::failed(Stage::write, FailureReason::unsupported, "few triplets");
  items[1]->is_partly_done = true;
  items[2]->outcome = {ItemResult::skipped, Stage::load, FailureReason::none, "already done"};
  const double begin_unix_s = machine::unix_now_s();
  tally.count(items);
  tally.set_not_read({{".tif", 3}});
  telemetry::Snapshot snapshot;
  tally.add_to(snapshot);
  const telemetry::ImageCounts& counts = snapshot.counts;
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.skipped, 1);
  EXPECT_EQ(counts.failures[std::size_t(FailureReason::corrupt)], 1);
  EXPECT_EQ(counts.failures_by_stage[std::size_t(Stage::load)][std::size_t(FailureReason::corrupt)],
            1);
  EXPECT_EQ(
      counts.failures_by_stage[std::size_t(Stage::write)][std::size_t(FailureReason::unsupported)],
      1);
  EXPECT_EQ(counts.outputs, 2) << "also that of the image that is partly done";
  EXPECT_EQ(counts.output_bytes, 18);
  EXPECT_EQ(tally.report().partly_done, 1);
  EXPECT_EQ(snapshot.found, 5);
  EXPECT_EQ(snapshot.unfinished, 1);
  EXPECT_NEAR(snapshot.oldest_unfinished_unix_s, begin_unix_s - 3600, 60);
  EXPECT_GE(snapshot.last_done_unix_s, begin_unix_s);
  EXPECT_EQ(snapshot.not_read, (telemetry::CountsByExtension{{".tif", 3}}));
  ASSERT_EQ(snapshot.recent_failures.size(), 2U);
  const telemetry::ImageFailure& failure = snapshot.recent_failures.back();
  EXPECT_GE(failure.unix_s, begin_unix_s);
  EXPECT_EQ(failure.file, "image 0");
  EXPECT_EQ(failure.stage, Stage::load);
  EXPECT_EQ(failure.reason, FailureReason::corrupt);
  EXPECT_EQ(failure.detail, "no end");
  EXPECT_EQ(meters.end_to_end.read().count(), 1) << "of images done";
  const telemetry::ProgressState progress = tally.progress();
  EXPECT_EQ(progress.done, 4);
  EXPECT_EQ(progress.failed, 2);
  EXPECT_EQ(progress.skipped, 1);
  EXPECT_FALSE(progress.is_total_final);
  tally.set_total_final();
  EXPECT_TRUE(tally.progress().is_total_final);
}

TEST(Tally, counts_a_retry_by_its_stage) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({100});
  item->outcome = Outcome::deferred(Stage::write, "no space");
  item->input_bytes = 7;
  count(tally, item);
  const telemetry::RunReport report = tally.report();
  EXPECT_EQ(report.retries_by_stage[std::size_t(Stage::write)], 1);
  EXPECT_EQ(report.images(), 0);
  EXPECT_EQ(report.input_bytes, 0) << "counted when it is tried again";
}

TEST(Tally, does_not_know_the_psnr_if_that_of_no_output_is_known) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  count(tally, done({std::numeric_limits<double>::quiet_NaN()}));
  EXPECT_TRUE(std::isnan(tally.report().psnr_db_mean));
  EXPECT_TRUE(std::isnan(tally.report().psnr_db_min));
  EXPECT_EQ(tally.report().ranks.at(0).psnr_db.count(), 0);
}

TEST(Tally, has_the_loss_bound_of_all_outputs) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  for (const double bound_db : {0.002, 0.004, 0.001}) {
    const pipeline::ItemPtr item = done({100});
    item->task.results[0][0].loss_bound_db = bound_db;
    count(tally, item);
  }
  EXPECT_EQ(tally.report().max_loss_bound_db, 0.004);
}

/// A plane other than the first.
TEST(Tally, counts_recomputed_planes_of_all_channels) {
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({100});
  item->matrices_shape.channels = 3;
  item->task.results[0] = {{}, {.is_recomputed = true}, {.is_recomputed = true}};
  count(tally, item);
  EXPECT_EQ(tally.report().planes_recomputed, 2);
}

/// The PSNR is that of the file if it was measured.
TEST(TallyLog, has_a_line_for_each_failure_and_each_output) {
  const LogCapture log;
  pipeline::Meters meters;
  pipeline::Tally tally(meters);
  const pipeline::ItemPtr item = done({25500, 25500, 25500});
  item->file = "a.png";
  item->outputs = {"5.png", "20.png", "50.png"};
  item->skipped_reports = {"{}"};
  item->qualities.resize(3);
  item->qualities[1].file_squared_error = 255;
  item->task.results[1][0] = {.rank = 20, .squared_error = 25500, .loss_estimate_db = 0.002};
  item->task.results[2][0].loss_estimate_db = std::numeric_limits<double>::infinity();
  count(tally, item);
  item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "no\nend");
  count(tally, item);
  item->outcome = {ItemResult::skipped, Stage::load, FailureReason::none, "already done"};
  count(tally, item);
  EXPECT_EQ(log.text(),
            "D a.png (8 x 4 x 1, 8 bits): rank 20, 39.12 dB, loss estimate 0.002 dB -> 20.png\n"
            "D a.png (8 x 4 x 1, 8 bits): rank 0, 19.12 dB, no loss estimate -> 50.png\n"
            "E a.png: no\\nend (corrupt, in load)\n");
}

}  // namespace
}  // namespace eckart::test
