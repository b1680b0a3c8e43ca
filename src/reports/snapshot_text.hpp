#pragma once

#include <string>

#include "telemetry/snapshot.hpp"

namespace eckart::reports {

/// The status text: results in `all`, and the activity of stages, queues and GPUs in `recent`, a
/// difference of two snapshots that ends with `all`. Several lines, each with a newline.
std::string snapshot_text(const telemetry::Snapshot& all, const telemetry::Snapshot& recent);

/// The bottleneck for the progress line, such as "write 97 % busy" or "cpu 99 % busy"; empty if
/// nothing is saturated.
std::string short_bottleneck_text(const telemetry::Snapshot& recent);

}  // namespace eckart::reports
