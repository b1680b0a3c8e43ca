#pragma once

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "text/printable.hpp"

namespace eckart::text {

using Json = nlohmann::ordered_json;  // keeps the order of keys

/// JSON has neither infinity nor NaN: these become null.
inline Json finite_or_null(double number) { return std::isfinite(number) ? Json(number) : Json(); }

/// Serializes `json`, on one line if `indent` is negative. Bytes that are not UTF-8, as in file
/// names, become U+FFFD. Invisible and bidirectional control characters are escaped.
inline std::string dump_json(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace eckart::text
