#pragma once

#include <string>

#include "telemetry/snapshot.hpp"

namespace eckart::reports {

/// A sentence on the bottleneck of a machine with this number of cores; empty if no stage was busy.
std::string bottleneck_text(const telemetry::Bottleneck& bottleneck, int cores);

}  // namespace eckart::reports
