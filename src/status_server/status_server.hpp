#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "files/file_descriptor.hpp"
#include "status_server/http_request.hpp"

namespace eckart::status_server {

class HttpConnections;

/// What a StatusServer shows; asked on its thread, which must not be kept waiting.
struct StatusHandlers {
  std::function<std::string(double since_unix_s)> json;
  std::function<std::string()> metrics, text;
  /// Why it is not, in words; empty where all is well.
  std::function<std::string()> readiness_error, health_error;
};

/// Answers HTTP on a loopback port or a Unix socket: / is a page for people, /status.json what it
/// shows, /status.txt the same for terminals, /metrics for Prometheus, /healthz and /readyz 200 or
/// 503 with why. A client that takes more than a second to ask, or 5 s with the answer, is
/// disconnected; when many connect at a time, sooner, so that they keep no other waiting. On a port
/// a request is refused whose Host does not name the loopback interface.
class StatusServer {
 public:
  /// `address`: as settings::ListenAddress has it. Throws FatalError(cannot_create) where nothing
  /// can listen there. A socket's file is its owner's and group's, and goes with the server; one
  /// that a dead process has left is replaced.
  StatusServer(const std::string& address, StatusHandlers handlers);
  ~StatusServer();
  StatusServer(const StatusServer&) = delete;
  StatusServer& operator=(const StatusServer&) = delete;

 private:
  std::string answer(const std::string& head) const;
  HttpResponse respond(const HttpRequest& request) const;

  const std::string socket_path_;  // empty for a port
  const StatusHandlers handlers_;
  const FileDescriptor listening_;
  const std::unique_ptr<HttpConnections> connections_;
  std::thread thread_;
};

/// What a StatusServer at this address answers to a GET; throws FatalError(unavailable) where
/// there is none.
std::string http_get(const std::string& address, const std::string& path);

}  // namespace eckart::status_server
