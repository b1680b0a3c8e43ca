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

}  // namespace
}  // namespace eckart::telemetry
