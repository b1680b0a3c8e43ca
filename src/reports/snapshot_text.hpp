#pragma once

#include <string>

#include "telemetry/snapshot.hpp"

namespace eckart::reports {

/// For people: what is done, and what stages, queues and GPUs did in `recent`, a difference of two
/// snapshots that ends with `all`. Several lines, the last ends with a newline.
std::string snapshot_text(const telemetry::Snapshot& all, const telemetry::Snapshot& recent);

/// "write 97 % busy", "cpu 99 % busy": what limits the rate in the progress line; empty where
/// nothing does.
std::string short_bottleneck_text(const telemetry::Snapshot& recent);

}  // namespace eckart::reports
