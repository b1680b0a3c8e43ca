#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <string>

#include "core/instant.hpp"

namespace eckart::status_server {

/// The time that a client may take.
struct ClientTimeouts {
  std::chrono::milliseconds request{1000};   ///< to send the head of its request
  std::chrono::milliseconds exchange{5000};  ///< for request and response together
};

/// Serves the clients of a listening socket on one thread, one request per connection. It never
/// waits for a single client: a request is answered once its head is complete, and the response is
/// sent as fast as the client reads it. If there are too many connections, the slowest are closed,
/// so that clients that send nothing, or send slowly, do not block others.
class HttpConnections {
 public:
  /// Returns the response, head and body, to the head of a request.
  using RequestHandler = std::function<std::string(const std::string& head)>;
  /// Whether a request is answered before others.
  using IsPriority = std::function<bool(const std::string& head)>;

  /// `listening_socket` must be nonblocking; the caller keeps its ownership. Throws
  /// std::system_error.
  HttpConnections(int listening_socket, RequestHandler handle_request, IsPriority is_priority,
                  ClientTimeouts timeouts = {});
  ~HttpConnections();
  HttpConnections(const HttpConnections&) = delete;
  HttpConnections& operator=(const HttpConnections&) = delete;

  /// Serves until stop(). Throws std::system_error if poll() fails.
  void run();
  /// May be called from any thread; run() returns soon after.
  void stop();

 private:
  class Connection;

  void wait();
  void accept();
  bool is_full() const;
  bool evict_slowest_connection();
  bool answer_one_request(bool only_priority);
  int timeout_ms() const;

  const int listening_socket_;
  const int wake_;
  const RequestHandler handle_request_;
  const IsPriority is_priority_;
  const ClientTimeouts timeouts_;
  std::list<Connection> connections_;
  bool has_pending_connection_ = false;  // a client waits to be accepted
  Instant accept_at_{};                  // when to accept again
  std::atomic<bool> should_stop_{false};
};

}  // namespace eckart::status_server
