#pragma once

#include <string>

#include "telemetry/output_measurement.hpp"
#include "text/json.hpp"

namespace eckart::telemetry {

/// The measurements as a JSON object with the keys of docs/reference/summary.md, without the file
/// names.
text::Json to_json(const OutputMeasurement& output);
/// The text of the same object, several times faster. The ledger stores it, so that a later report
/// has the measurements of a skipped output. First its keys, which are the same for all outputs:
/// `"rows","cols",...`
const std::string& json_keys();
/// Then the values in the same order: `208,176,...`
std::string json_values(const OutputMeasurement& output);

/// Returns the loss estimate in the text of such an object; infinity if it is unknown.
double loss_estimate_db_of(const std::string& json);

}  // namespace eckart::telemetry
