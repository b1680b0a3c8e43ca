#pragma once

#include "telemetry/output_measurement.hpp"
#include "text/json.hpp"

namespace eckart::telemetry {

/// The measurements as a JSON object with the keys of docs/reference/summary.md, without the file
/// names. The ledger stores it, so that a later report has the measurements of a skipped output.
text::Json to_json(const OutputMeasurement& output);

}  // namespace eckart::telemetry
