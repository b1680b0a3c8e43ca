#pragma once

#include <string>

#include "telemetry/run_report.hpp"

namespace eckart::reports {

/// The bottleneck as a sentence, such as "write is the bottleneck: 97 % busy"; empty if there were
/// no images.
std::string bottleneck_text(const telemetry::RunReport& report);

/// What was not an input, if there is any: "13 files not read: 10 .tif, 3 .heic; 1 other ignored
/// (hidden, temporary, or link)".
std::string ignored_text(const telemetry::RunReport& report);

/// The summary at the end of a run: several lines, each with a newline.
std::string to_text(const telemetry::RunReport& report);

/// The summary at the end of a measurement, which writes no outputs: images, time, rate and
/// backend.
std::string measurement_text(const telemetry::RunReport& report);

/// A JSON object on one line without newline, with the keys of docs/reference/summary.md.
std::string to_json(const telemetry::RunReport& report);

}  // namespace eckart::reports
