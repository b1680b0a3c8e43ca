// What is measured of an output.
#include "pipeline/output_quality.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/color_planes.hpp"
#include "pipeline/output_stamp.hpp"
#include "telemetry/json/measurement_json.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/unit/codec/factors_maker.hpp"
#include "tests/unit/codec/test_images.hpp"

namespace eckart::test {
namespace {

TEST(OutputMeasurement, weights_the_energy_of_planes_by_their_squared_norms) {
  const pipeline::ItemPtr item = make_item(0);
  item->outputs = {"out.png"};
  item->task.results[0] = {{.energy = 1, .squared_norm = 90}, {.energy = 0.5, .squared_norm = 10}};
  EXPECT_DOUBLE_EQ(pipeline::output_measurement(*item, 0).total_energy, 0.95);
  item->task.results[0] = {{.energy = 1, .squared_norm = 0}};
  EXPECT_EQ(pipeline::output_measurement(*item, 0).total_energy, 1) << "black";
}

TEST(OutputMeasurement, has_the_largest_loss_estimate_of_the_planes) {
  const pipeline::ItemPtr item = make_item(0);
  item->outputs = {"out.png"};
  item->task.results[0] = {
      {.loss_estimate_db = 0.001}, {.loss_estimate_db = 0.003}, {.loss_estimate_db = 0.002}};
  EXPECT_EQ(pipeline::output_measurement(*item, 0).loss_estimate_db, 0.003);
}

/// An image of 2 x 3 pixels in three channels, at two ranks.
pipeline::ItemPtr measured_item() {
  static constexpr RankPolicy kRanks[] = {{5}, {20}};
  pipeline::ItemPtr item = make_item(0, {2, 3, 3, Depth::u16});
  item->output_ranks = kRanks;
  item->outputs = {"a.k5.png", "a.k20.png"};
  item->color = ColorMode::ycbcr;
  item->task.peak = 1000;
  item->peak_source = PeakSource::number;
  item->task.results = {{{}, {}, {}}, {}};
  const auto plane = [](int rank, double x) {
    return compute::PlaneResult{.rank = rank,
                                .energy = x / 8,
                                .squared_norm = 1,
                                .residual = 30 * x,
                                .squared_error = 60 * x,
                                .loss_estimate_db = 0.125 * x,
                                .loss_bound_db = x,
                                .is_recomputed = x > 1,
                                .sigma1 = 100 * x,
                                .sigma_threshold = 10 * x,
                                .solver = SolverKind::gram};
  };
  item->task.results[1] = {plane(2, 1), plane(4, 3), plane(3, 2)};
  item->input_bytes = 71;
  item->output_bytes = {72, 73};
  using std::chrono::milliseconds;
  item->load_time = milliseconds(81), item->wait_time = milliseconds(82),
  item->compute_time = milliseconds(83);
  item->write_time = milliseconds(84);
  item->qualities.resize(2);
  item->qualities[1] = {.file_squared_error = 1800,
                        .ssim = 0.5,
                        .relative_error = 0.25,
                        .max_error = 9,
                        .residual_gain = 4,
                        .write_time = milliseconds(85)};
  return item;
}

TEST(OutputMeasurement, has_every_value_in_its_place) {
  const pipeline::ItemPtr item = measured_item();
  item->metadata.dicom = DicomValues{.bits_stored = 12,
                                     .is_inverted = true,
                                     .offset = 100,
                                     .slope = 2,
                                     .intercept = 7,
                                     .window_center = 40,
                                     .window_width = 400};
  const auto json =
      nlohmann::json::parse(telemetry::to_json(pipeline::output_measurement(*item, 1)).dump());
  auto rounded = json;
  for (auto& value : rounded)
    if (value.is_number_float()) value = std::round(1e6 * value.get<double>()) / 1e6;
  const auto db = [](double squared_error) {
    return std::round(1e7 * std::log10(1e6 * 18 / squared_error)) / 1e6;
  };
  auto expected =
      nlohmann::json::parse(R"({"rows": 2, "cols": 3, "channels": 3, "bits": 16, "color": "ycbcr",
    "rank_spec": "20", "rank": 4, "channel_ranks": [2, 4, 3], "energy": [0.125, 0.375, 0.25],
    "sigma1": [100, 300, 200], "sigma_threshold": [10, 30, 20], "solvers": ["gram", "gram", "gram"],
    "peak": 1000, "peak_source": "number", "relative_error": 0.25, "max_error": 9,
      "file_rmse": 10, "ssim": 0.5,
    "residual_gain": 4, "loss_estimate_db": 0.375, "loss_bound_db": 3, "planes_recomputed": 2,
    "rescale_slope": -2, "rescale_intercept": 7997, "window_center": 40, "window_width": 400,
    "raw_bytes": 36, "source_bytes": 71, "written_bytes": 73, "load_ms": 81, "wait_ms": 82,
      "compute_ms": 83, "write_ms": 85})");
  expected["psnr_before_rounding_db"] = db(180);
  expected["psnr_db"] = db(360);
  expected["file_psnr_db"] = db(1800);
  expected["rmse"] = std::round(1e6 * std::sqrt(20)) / 1e6;
  expected["factor_bytes"] = 9 * 4 * (2 + 3 + 1);
  EXPECT_EQ(rounded, expected) << nlohmann::json::diff(rounded, expected);
}

TEST(OutputMeasurement, knows_the_solvers_only_of_all_planes) {
  const pipeline::ItemPtr item = measured_item();
  const auto solvers = [&] { return pipeline::output_measurement(*item, 1).solvers; };
  item->task.results[1][1].is_from_factors = true;
  EXPECT_EQ(solvers(), (std::vector<std::string>{"gram", "factors", "gram"}));
  item->task.results[1][2].solver.reset();
  EXPECT_TRUE(solvers().empty());
}

TEST(OutputMeasurement, converts_samples_of_dicom_images_that_are_not_inverted) {
  const pipeline::ItemPtr item = measured_item();
  DicomValues& dicom = item->metadata.dicom.emplace();
  dicom.bits_stored = 12, dicom.offset = 100, dicom.slope = 2, dicom.intercept = 7;
  const telemetry::OutputMeasurement line = pipeline::output_measurement(*item, 1);
  EXPECT_EQ(line.rescale_slope, 2);
  EXPECT_EQ(line.rescale_intercept, 7 - 200);
  EXPECT_TRUE(std::isnan(line.window_center));
  EXPECT_TRUE(std::isnan(line.window_width));
}

/// They have the most triplets, and the settings of all ranks.
TEST(OutputMeasurement, describes_factors_by_the_rank_with_the_most_triplets) {
  const pipeline::ItemPtr item = measured_item();
  item->has_factors = true;
  item->outputs.push_back("a.npz");
  item->output_bytes.push_back(74);
  const telemetry::OutputMeasurement line = pipeline::output_measurement(*item, 2);
  EXPECT_EQ(line.rank_spec, "20");
  EXPECT_EQ(line.rank, 4);
  EXPECT_EQ(line.written_bytes, 74);
}

/// In levels of the matrices, which may be those of the image times a scale.
TEST(Peak, is_of_the_stored_bits_and_of_the_range_of_factors) {
  const pipeline::ItemPtr item = make_item(0, {2, 3, 1, Depth::u16});
  const auto peak_of = [&](const PeakChoice& choice) {
    pipeline::set_peak(*item, choice);
    return std::pair(item->task.peak, item->peak_source);
  };
  EXPECT_EQ(peak_of({PeakSource::number, 500}), std::pair(500.0, PeakSource::number));
  EXPECT_EQ(peak_of({PeakSource::dtype}), std::pair(65535.0, PeakSource::dtype));
  item->metadata.dicom.emplace().bits_stored = 12;
  EXPECT_EQ(peak_of({}).first, 4095);
  item->color = ColorMode::luma;
  item->image_shape.channels = 3;
  EXPECT_EQ(peak_of({PeakSource::number, 500}).first,
            500 * matrices_scale(item->image_shape, ColorMode::luma));
}

/// In the files, for who finds one without its report.
TEST(OutputStamp, has_the_ranks_and_thresholds_of_the_output) {
  const pipeline::ItemPtr item = measured_item();
  const auto text_of = [&](std::size_t output, const std::string& program) {
    std::string text;
    for (const TextEntry& entry : pipeline::output_stamp(*item, output, program))
      text += entry.keyword + "=" + entry.text + "\n";
    return text;
  };
  item->task.results[1][0].sigma_threshold = 12.34567;
  EXPECT_EQ(text_of(1, "eckart 1.0"),
            "Software=eckart "
            "1.0\neckart:rank=20\neckart:channel_ranks=2,4,3\neckart:sigma_threshold=12.35,30,"
            "20\neckart:color=ycbcr\n");
  EXPECT_EQ(text_of(1, ""), "");
  item->color = ColorMode::channels;
  EXPECT_EQ(text_of(0, "eckart 1.0"),
            "Software=eckart 1.0\neckart:rank=5\neckart:channel_ranks=0,0,0\n")
      << "a copy has no threshold";
}

/// The matrices have a multiple of the levels.
TEST(RestoredColor, has_all_results_in_levels_of_the_image) {
  for (const bool has_known_pixels : {true, false}) {
    const pipeline::ItemPtr item = make_item(0);
    compute::Task& task = item->task;
    pipeline::set_matrices(*item, gradient_image({8, 8, 3, Depth::u8}), ColorMode::luma);
    const double scale = matrices_scale(item->image_shape, ColorMode::luma),
                 squared = scale * scale;
    ASSERT_GT(scale, 1);
    if (!has_known_pixels) item->samples.emplace();
    const compute::PlaneResult plane{.residual = 2 * squared,
                                     .squared_error = 3 * squared,
                                     .sigma1 = 100 * scale,
                                     .sigma_threshold = 10 * scale};
    task.results = {{plane}, {plane}};
    task.outputs.clear();
    task.outputs.emplace_back(task.input.shape());
    std::memcpy(task.outputs[0].data(), task.input.data(), task.input.bytes());
    task.outputs.emplace_back();  // not needed
    task.peak = 255 * scale;
    task.spectra = {{5 * scale}};
    task.factors = {make_factors(8, 8, 1)};
    const Factors expected = make_factors(8, 8, 1);
    task.factors[0].scale_levels(scale);
    pipeline::restore_colors(*item);
    EXPECT_EQ(task.peak, 255);
    EXPECT_EQ(task.spectra[0][0], 5);
    EXPECT_EQ(task.results[0][0].sigma1, 100);
    EXPECT_EQ(task.results[0][0].sigma_threshold, 10);
    EXPECT_EQ(task.results[0][0].residual, 2);
    EXPECT_EQ(task.results[0][0].squared_error, 3);
    EXPECT_EQ(task.input.shape(), item->image_shape);
    EXPECT_EQ(task.outputs[0].shape(), item->image_shape);
    EXPECT_FLOAT_EQ(float(task.factors[0].s.at(0)), float(expected.s.at(0)));
    ASSERT_EQ(item->errors.size(), 2U);
    EXPECT_EQ(item->errors[0].residual, has_known_pixels ? 6 : 2) << "luma is in all channels";
    EXPECT_EQ(item->errors[0].squared_error, has_known_pixels ? 0 : 3);
  }
}

TEST(ColorMatrix, is_that_of_the_channel_of_a_gray_image) {
  const pipeline::ItemPtr item = make_item(0);
  pipeline::set_matrices(*item, gradient_image({8, 8, 1, Depth::u8}), ColorMode::luma);
  EXPECT_EQ(item->color, ColorMode::channels);
}

TEST(OutputErrors, is_the_sum_over_the_planes) {
  const std::vector<compute::PlaneResult> planes{{.residual = 1, .squared_error = 2},
                                                 {.residual = 4, .squared_error = 8}};
  EXPECT_EQ(pipeline::sum_errors(planes).residual, 5);
  EXPECT_EQ(pipeline::sum_errors(planes).squared_error, 10);
}

}  // namespace
}  // namespace eckart::test
