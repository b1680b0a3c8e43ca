#pragma once

#include "telemetry/snapshot.hpp"
#include "text/json.hpp"

namespace eckart::reports {

/// {".tif": 10, "other": 2}: files that are not read, by extension.
inline text::Json not_read_json(const telemetry::CountsByExtension& files) {
  text::Json json = text::Json::object();
  for (const auto& [extension, count] : files) json[extension] = count;
  return json;
}

}  // namespace eckart::reports
