#pragma once

#include <string>

#include "telemetry/run_report.hpp"

namespace eckart::reports {

/// What limits the rate, as a sentence: "write is the bottleneck: 97 % busy"; empty without work.
std::string bottleneck_text(const telemetry::RunReport& report);

/// The closing summary for people: several lines, the last ends with a newline.
std::string to_text(const telemetry::RunReport& report);

/// One JSON object on one line, without newline; keys with units, documented in
/// docs/reference/summary.md.
std::string to_json(const telemetry::RunReport& report);

}  // namespace eckart::reports
