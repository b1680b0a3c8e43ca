#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "text/printable.hpp"

namespace eckart {

using Json = nlohmann::ordered_json;  // keys in the order of the documentation

/// Without an indent on one line. File names need not be UTF-8: such bytes become U+FFFD. What is
/// invisible in them, or would reorder what is shown, is escaped.
inline std::string dump_json(const Json& json, int indent = -1) {
  return printable_json(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

}  // namespace eckart
