#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "files/file_descriptor.hpp"
#include "status_server/http_connections.hpp"
#include "status_server/http_request.hpp"

namespace eckart::status_server {

/// The contents that a StatusServer shows. Called on the thread of the server; must not block.
struct StatusHandlers {
  std::function<std::string(double since_unix_s)> json;
  std::function<std::string()> metrics, text;
  /// Sentences that say why the process is not ready or not healthy; empty if it is.
  std::function<std::string()> readiness_error, health_error;
};

/// An HTTP server on a loopback port or a Unix socket. / is the status page, /status.json its data,
/// /status.txt the same for terminals, /metrics for Prometheus. /healthz and /readyz answer 200, or
/// 503 with the reason. A client that takes longer than 1 s for its request, or 5 s in all, is
/// disconnected; earlier if there are many clients, so that they do not block others. On a port, a
/// request is refused if its Host does not name the loopback interface.
class StatusServer {
 public:
  /// `address`: in the format of settings::ListenAddress. Throws FatalError(cannot_create) if it is
  /// not possible to listen there. The file of a Unix socket has mode 0660 and is removed by the
  /// destructor. The file of a dead process is replaced.
  StatusServer(const std::string& address, StatusHandlers handlers, ClientTimeouts timeouts = {});
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

 private:
  void start(const std::string& address);
  std::string handle_request(const std::string& head) const;
  HttpResponse respond(const HttpRequest& request) const;

  const std::string socket_path_;  // empty for a port
  const StatusHandlers handlers_;
  const files::FileDescriptor listening_;
  std::unique_ptr<HttpConnections> connections_;
  std::thread thread_;
};

/// Sends a GET request to the StatusServer at this address and returns the body. Throws
/// FatalError(unavailable) if there is none or it does not answer 200.
std::string http_get(const std::string& address, const std::string& path);

}  // namespace eckart::status_server
