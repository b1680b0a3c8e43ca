#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "core/printable.hpp"
#include "telemetry/snapshot.hpp"

namespace eckart::telemetry {

using Json = nlohmann::ordered_json;  // keys in the order of the documentation

/// Those reasons that occurred.
inline Json failures_json(const ImageCounts& counts) {
  Json failures = Json::object();
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    const std::int64_t count = counts.failures[std::size_t(reason)];
    if (count > 0) failures[std::string(to_string(FailureReason(reason)))] = count;
  }
  return failures;
}

/// Without an indent on one line. File names need not be UTF-8: such bytes become U+FFFD. What is
/// invisible in them, or would reorder what is shown, is escaped.
inline std::string dump_json(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace eckart::telemetry
