#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eckart::status_server {

/// The head of an HTTP/1 request. Bodies are not read, because no resource accepts one.
struct HttpRequest {
  std::string method;
  std::string path;     ///< path of the target, with leading slash; percent escapes are not decoded
  std::string query;    ///< the part of the target after `?`
  std::string version;  ///< "HTTP/1.0" or "HTTP/1.1"
  std::vector<std::pair<std::string, std::string>>
      headers{};  ///< values without leading and trailing blanks

  /// The values of all headers with this name; case does not matter.
  std::vector<std::string_view> header_values(std::string_view name) const;
  /// The value of `name=value` in the query; empty if there is none.
  std::string_view query_value(std::string_view name) const;
};

/// Parses a head, which must include the empty line at its end. Returns nothing if it is not
/// well-formed (is_well_formed_request_head()), if its target is not a path, or if the version is
/// unknown.
std::optional<HttpRequest> parse_http_request(std::string_view head);

/// The response to a GET or HEAD request.
struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>>
      headers{};  ///< in addition to those of every response
};

/// Serializes a response. Each response closes its connection and forbids caching.
std::string to_text(const HttpResponse& response, bool with_body);

}  // namespace eckart::status_server
