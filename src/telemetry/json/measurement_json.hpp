#pragma once

#include <string>

#include "telemetry/output_measurement.hpp"
#include "text/json.hpp"

namespace eckart::telemetry {

/// The measurements as a JSON object with the keys of docs/reference/summary.md, without the file
/// names.
text::Json to_json(const OutputMeasurement& output);
/// The same object as text, several times faster. The ledger stores it, so that a later report has
/// the measurements of a skipped output.
std::string to_json_text(const OutputMeasurement& output);

/// Returns the loss estimate in the text of such an object; infinity if it is unknown.
double loss_estimate_db_of(const std::string& json);

}  // namespace eckart::telemetry
