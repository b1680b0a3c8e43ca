#include "telemetry/json/measurement_json.hpp"

#include <cmath>

namespace eckart::telemetry {
namespace {

/// JSON has no infinity.
text::Json finite_or_null(double number) {
  return std::isfinite(number) ? text::Json(number) : text::Json();
}

}  // namespace

text::Json to_json(const OutputMeasurement& output) {
  return {{"rows", output.rows},
          {"cols", output.cols},
          {"channels", output.channels},
          {"bits", output.bits},
          {"rank", output.rank},
          {"psnr_db", finite_or_null(output.psnr_db)},
          {"planes_recomputed", output.planes_recomputed},
          {"energy", output.energy},
          {"loss_estimate_db", finite_or_null(output.loss_estimate_db)},
          {"loss_bound_db", finite_or_null(output.loss_bound_db)}};
}

}  // namespace eckart::telemetry
