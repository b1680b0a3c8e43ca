#include "status_server/status_server.hpp"

#include <httplib.h>
#include <spdlog/spdlog.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <exception>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "status_server/host_header.hpp"
#include "status_server/http_connections.hpp"
#include "status_server/listening_socket.hpp"
#include "status_server/page/status_page.hpp"
#include "text/printable.hpp"

namespace eckart::status_server {
namespace {

constexpr std::size_t kMaxBodyBytes = std::size_t(64) << 20;

/// The HTTP status for a bad Host header; 0 if the header is acceptable. Browsers always send one
/// Host header. A health check in HTTP/1.0 may send none.
int host_header_status(const HttpRequest& request) {
  const std::vector<std::string_view> hosts = request.header_values("Host");
  if (hosts.empty() && request.version == "HTTP/1.0") return 0;
  if (hosts.size() != 1 || hosts.front().empty()) return 400;
  return is_loopback_host(hosts.front()) ? 0 : 403;
}

bool is_health_check(const std::string& head) {
  return head.starts_with("GET /healthz ") || head.starts_with("HEAD /healthz ") ||
         head.starts_with("GET /readyz ") || head.starts_with("HEAD /readyz ");
}

HttpResponse health_response(const std::string& error) {
  return {.status = error.empty() ? 200 : 503, .body = (error.empty() ? "ok" : error) + '\n'};
}

/// Removes the socket, unless another file is there now. An empty path is none.
void remove_socket(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode)) ::unlink(path.c_str());
}

}  // namespace

StatusServer::StatusServer(const std::string& address, StatusHandlers handlers,
                           ClientTimeouts timeouts)
    : socket_path_(is_socket_path(address) ? address : ""),
      handlers_(std::move(handlers)),
      listening_(listen_on(address)) {
  try {
    connections_ = std::make_unique<HttpConnections>(
        listening_.get(), [this](const std::string& head) { return handle_request(head); },
        is_health_check, timeouts);
    start(address);
  } catch (const std::system_error& error) {
    remove_socket(socket_path_);
    throw FatalError(ExitCode::cannot_create, "cannot listen on " + text::printable(address) +
                                                  ": " + error.code().message());
  }
}

void StatusServer::start(const std::string& address) {
  thread_ = std::thread([this, address] {
    try {
      connections_->run();
    } catch (const std::exception& error) {
      spdlog::error("the status server on {} has stopped: {}", text::printable(address),
                    text::printable_message(error.what()));
    }
  });
}

std::string StatusServer::handle_request(const std::string& head) const {
  const std::optional<HttpRequest> request = parse_http_request(head);
  if (!request) return to_text({.status = 400}, true);
  const bool with_body = request->method != "HEAD";
  try {
    return to_text(respond(*request), with_body);
  } catch (const std::exception& error) {
    return to_text({.status = 500, .body = text::printable_message(error.what()) + '\n'},
                   with_body);
  }
}

HttpResponse StatusServer::respond(const HttpRequest& request) const {
  if (request.method != "GET" && request.method != "HEAD")
    return {.status = 405, .headers = {{"Allow", "GET, HEAD"}}};
  if (const int error = socket_path_.empty() ? host_header_status(request) : 0) {
    return {.status = error,
            .body =
                "Send exactly one Host header that names localhost, 127.0.0.1 or [::1]; a proxy "
                "should send localhost.\n"};
  }
  const std::string& path = request.path;
  if (path == "/") return {.type = "text/html; charset=utf-8", .body = std::string(status_page())};
  if (path == "/status.json") {
    const std::string since(request.query_value("since"));
    return {.type = "application/json", .body = handlers_.json(std::atof(since.c_str()))};
  }
  if (path == "/status.txt") return {.body = handlers_.text()};
  if (path == "/metrics")
    return {.type = "text/plain; version=0.0.4; charset=utf-8", .body = handlers_.metrics()};
  if (path == "/healthz") return health_response(handlers_.health_error());
  if (path == "/readyz") return health_response(handlers_.readiness_error());
  return {.status = 404, .body = "There is no such page.\n"};
}

StatusServer::~StatusServer() {
  connections_->stop();
  thread_.join();
  remove_socket(socket_path_);
}

std::string http_get(const std::string& address, const std::string& path) {
  const bool is_socket = is_socket_path(address);
  const auto [host, port] = is_socket ? HostAndPort{address, 80} : host_and_port(address);
  httplib::Client client(host, port);
  if (is_socket) client.set_address_family(AF_UNIX);
  client.set_connection_timeout(5);
  client.set_read_timeout(10);
  std::string body;
  const httplib::Result result = client.Get(path, [&](const char* part, std::size_t size) {
    body.append(part, size);
    return body.size() <= kMaxBodyBytes;
  });
  if (!result && body.size() > kMaxBodyBytes)
    throw FatalError(ExitCode::unavailable, "the server on " + text::printable(address) +
                                                " is not eckart: its response exceeds 64 MiB");
  if (!result)
    throw FatalError(ExitCode::unavailable,
                     "no eckart process is listening on " + text::printable(address));
  if (result->status != 200)
    throw FatalError(ExitCode::unavailable, text::printable(address) + " answers " +
                                                std::to_string(result->status) + " to " + path);
  return body;
}

}  // namespace eckart::status_server
