#include "telemetry/json/measurement_json.hpp"

#include <gtest/gtest.h>

namespace eckart::telemetry {
namespace {

/// The values of the object as an array.
std::string array_text(const OutputMeasurement& output) {
  const text::Json object = to_json(output);
  text::Json values = text::Json::array();
  for (const auto& value : object) values.push_back(value);
  return values.dump();
}

std::string key_text(const OutputMeasurement& output) {
  const text::Json object = to_json(output);
  text::Json keys = text::Json::array();
  for (const auto& [key, value] : object.items()) keys.push_back(key);
  return keys.dump();
}

TEST(MeasurementJson, is_the_same_as_text) {
  OutputMeasurement output;
  EXPECT_EQ('[' + json_keys() + ']', key_text(output));
  output.rows = 208;
  output.color = "channels";
  EXPECT_EQ('[' + json_values(output) + ']', array_text(output)) << "most values are unknown";
  output.rank_spec = "a \"quoted\" \u00e9";
  output.channel_ranks = {20, 7};
  output.energy = {0.8324943618974678, 1};
  output.sigma1 = {19336.236616777318, 1e300};
  output.sigma_threshold = {1, kUnknown};
  output.solvers = {"subspace", "gram"};
  output.peak = 255;
  output.psnr_before_rounding_db = std::numeric_limits<double>::infinity();
  output.psnr_db = 15.011389832134828;
  output.rmse = 0;
  output.relative_error = 4.560485491801624e-05;
  output.max_error = -12;
  output.residual_gain = 1e-12;
  output.raw_bytes = std::int64_t(1) << 40;
  output.write_ms = 0.1;
  EXPECT_EQ('[' + json_values(output) + ']', array_text(output));
}

/// All values differ.
TEST(MeasurementJson, has_every_value_in_its_place) {
  OutputMeasurement line{.rows = 1,
                         .cols = 2,
                         .channels = 3,
                         .bits = 4,
                         .color = std::string(2000, 'c'),
                         .rank_spec = "20",
                         .rank = 5,
                         .channel_ranks = {6, 7},
                         .energy = {0.5, 1}};
  line.sigma1 = {8.5}, line.sigma_threshold = {9.5}, line.solvers = {"gram"};
  line.peak = 10.5, line.peak_source = PeakSource::number;
  line.psnr_before_rounding_db = 11.5, line.psnr_db = 12.5, line.rmse = 13.5,
  line.relative_error = 14.5, line.max_error = 15.5;
  line.file_psnr_db = 16.5, line.file_rmse = 17.5, line.ssim = 18.5, line.residual_gain = 19,
  line.loss_estimate_db = 20.5, line.loss_bound_db = 21.5;
  line.planes_recomputed = 22, line.rescale_slope = 23.5, line.rescale_intercept = 24.5,
  line.window_center = 25.5, line.window_width = 26.5;
  line.raw_bytes = 27, line.source_bytes = 28, line.factor_bytes = 29, line.written_bytes = 30;
  line.load_ms = 31.5, line.wait_ms = 32.5, line.compute_ms = 33.5, line.write_ms = 34.5;
  const auto expected = text::Json::parse(
      R"({"rows": 1, "cols": 2, "channels": 3, "bits": 4, "color": "COLOR", "rank_spec": "20",
      "rank": 5,
    "channel_ranks": [6, 7], "energy": [0.5, 1.0], "sigma1": [8.5], "sigma_threshold": [9.5],
      "solvers": ["gram"],
    "peak": 10.5, "peak_source": "number", "psnr_before_rounding_db": 11.5, "psnr_db": 12.5,
      "rmse": 13.5,
    "relative_error": 14.5, "max_error": 15.5, "file_psnr_db": 16.5, "file_rmse": 17.5,
      "ssim": 18.5, "residual_gain": 19.0,
    "loss_estimate_db": 20.5, "loss_bound_db": 21.5, "planes_recomputed": 22, "rescale_slope": 23.5,
    "rescale_intercept": 24.5, "window_center": 25.5, "window_width": 26.5, "raw_bytes": 27,
      "source_bytes": 28,
    "factor_bytes": 29, "written_bytes": 30, "load_ms": 31.5, "wait_ms": 32.5, "compute_ms": 33.5,
      "write_ms": 34.5})");
  auto json = to_json(line);
  EXPECT_EQ(json.at("color"), line.color);
  json["color"] = "COLOR";
  EXPECT_EQ(json.dump(), expected.dump());
  const auto keys = text::Json::parse('[' + json_keys() + ']'),
             values = text::Json::parse('[' + json_values(line) + ']');
  ASSERT_EQ(keys.size(), values.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::string key = keys[i];
    EXPECT_EQ(values[i].dump(),
              key == "color" ? text::Json(line.color).dump() : expected.at(key).dump())
        << key;
  }
}

}  // namespace
}  // namespace eckart::telemetry
