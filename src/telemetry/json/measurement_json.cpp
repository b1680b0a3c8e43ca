#include "telemetry/json/measurement_json.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace eckart::telemetry {
namespace {

using text::finite_or_null;

/// Null if a value is unknown.
text::Json numbers_or_null(const std::vector<double>& numbers) {
  const bool is_known =
      !numbers.empty() && std::ranges::all_of(numbers, [](double n) { return std::isfinite(n); });
  return is_known ? text::Json(numbers) : text::Json();
}

template <class Value>
text::Json values_or_null(const std::vector<Value>& values) {
  return values.empty() ? text::Json() : text::Json(values);
}

}  // namespace

text::Json to_json(const OutputMeasurement& output) {
  return {{"rows", output.rows},
          {"cols", output.cols},
          {"channels", output.channels},
          {"bits", output.bits},
          {"color", output.color},
          {"rank_spec", output.rank_spec},
          {"rank", output.rank},
          {"channel_ranks", values_or_null(output.channel_ranks)},
          {"energy", numbers_or_null(output.energy)},
          {"sigma1", numbers_or_null(output.sigma1)},
          {"sigma_threshold", numbers_or_null(output.sigma_threshold)},
          {"solvers", values_or_null(output.solvers)},
          {"peak", output.peak},
          {"peak_source", to_string(output.peak_source)},
          {"psnr_before_rounding_db", finite_or_null(output.psnr_before_rounding_db)},
          {"psnr_db", finite_or_null(output.psnr_db)},
          {"rmse", finite_or_null(output.rmse)},
          {"relative_error", finite_or_null(output.relative_error)},
          {"max_error", finite_or_null(output.max_error)},
          {"file_psnr_db", finite_or_null(output.file_psnr_db)},
          {"file_rmse", finite_or_null(output.file_rmse)},
          {"ssim", finite_or_null(output.ssim)},
          {"residual_gain", finite_or_null(output.residual_gain)},
          {"loss_estimate_db", finite_or_null(output.loss_estimate_db)},
          {"loss_bound_db", finite_or_null(output.loss_bound_db)},
          {"planes_recomputed", output.planes_recomputed},
          {"rescale_slope", finite_or_null(output.rescale_slope)},
          {"rescale_intercept", finite_or_null(output.rescale_intercept)},
          {"window_center", finite_or_null(output.window_center)},
          {"window_width", finite_or_null(output.window_width)},
          {"raw_bytes", output.raw_bytes},
          {"source_bytes", output.source_bytes},
          {"factor_bytes", output.factor_bytes},
          {"written_bytes", output.written_bytes},
          {"load_ms", output.load_ms},
          {"wait_ms", output.wait_ms},
          {"compute_ms", output.compute_ms},
          {"write_ms", output.write_ms}};
}

double loss_estimate_db_of(const std::string& json) {
  const text::Json parsed = text::Json::parse(json, nullptr, /*allow_exceptions=*/false);
  const auto found = parsed.find("loss_estimate_db");
  return found != parsed.end() && found->is_number() ? found->get<double>()
                                                     : std::numeric_limits<double>::infinity();
}

}  // namespace eckart::telemetry
