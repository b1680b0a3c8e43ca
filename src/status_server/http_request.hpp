#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace eckart::status_server {

/// The head of an HTTP/1 request. Bodies are not read: nothing here takes one.
struct HttpRequest {
  std::string method;
  std::string path;     ///< of the target, with its leading slash; percent escapes stay as they are
  std::string query;    ///< what follows the target's `?`
  std::string version;  ///< "HTTP/1.0" or "HTTP/1.1"
  std::vector<std::pair<std::string, std::string>> headers{};  ///< values without outer spaces

  /// The values of all headers of a name, whose case does not matter.
  std::vector<std::string_view> header_values(std::string_view name) const;
  /// Of `name=value` in the query; empty if it is not there.
  std::string_view query_value(std::string_view name) const;
};

/// `head` is all up to the empty line, that included. Nothing where it is not well-formed
/// (is_well_formed_request_head()), its target is no path, or its version is another.
std::optional<HttpRequest> parse_http_request(std::string_view head);

/// What is answered to a GET or HEAD.
struct HttpResponse {
  int status = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body{};
  std::vector<std::pair<std::string, std::string>> headers{};  ///< beyond those of every response
};

/// As it is sent: each response ends its connection, and is not to be cached.
std::string to_text(const HttpResponse& response, bool with_body);

}  // namespace eckart::status_server
