#include "text/json_bytes.hpp"

#include <optional>
#include <stdexcept>

#include "text/hex.hpp"

namespace eckart::text {
namespace {

bool is_utf8(const std::string& text) {
  try {
    static_cast<void>(Json(text).dump());
    return true;
  } catch (const Json::exception&) {
    return false;
  }
}

}  // namespace

Json bytes_to_json(const std::string& bytes) {
  return is_utf8(bytes) ? Json(bytes) : Json{{"hex", to_hex(bytes)}};
}

std::string bytes_from_json(const Json& json) {
  if (!json.is_object()) return json.get<std::string>();
  const auto hex = json.at("hex").get<std::string>();
  std::optional<std::string> bytes = from_hex(hex);
  if (!bytes) throw std::invalid_argument("'" + hex + "' is not hexadecimal");
  return *std::move(bytes);
}

}  // namespace eckart::text
