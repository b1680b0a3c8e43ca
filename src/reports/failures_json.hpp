#pragma once

#include <string>

#include "telemetry/snapshot.hpp"
#include "text/json.hpp"

namespace eckart::reports {

/// The number of failures by reason; reasons that did not occur are left out.
inline text::Json failures_json(const telemetry::ImageCounts& counts) {
  text::Json failures = text::Json::object();
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    const std::int64_t count = counts.failures[std::size_t(reason)];
    if (count > 0) failures[std::string(to_string(FailureReason(reason)))] = count;
  }
  return failures;
}

}  // namespace eckart::reports
