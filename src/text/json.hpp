#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "text/printable.hpp"

namespace eckart::text {

using Json = nlohmann::ordered_json;  // keeps the order of keys

/// Serializes `json`, on one line if `indent` is negative. Bytes that are not UTF-8, as in file
/// names, become U+FFFD. Invisible and bidirectional control characters are escaped.
inline std::string dump_json(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace eckart::text
