#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <list>
#include <string>

namespace eckart::status_server {

/// Serves the clients of a listening socket on one thread, one request a connection, and waits for
/// none of them: a request is answered once all of its head has come, and an answer is sent as fast
/// as its client takes it. Of more than some connections those that keep it waiting longest are
/// closed, so that clients that send nothing, or little by little, keep no other waiting.
class HttpConnections {
 public:
  /// The answer, head and body, to a request's head.
  using RequestHandler = std::function<std::string(const std::string& head)>;
  /// Whether a request goes before others.
  using IsPriority = std::function<bool(const std::string& head)>;

  /// `listening` stays the caller's, and must not block. Throws std::system_error.
  HttpConnections(int listening, RequestHandler answer, IsPriority is_urgent);
  ~HttpConnections();
  HttpConnections(const HttpConnections&) = delete;
  HttpConnections& operator=(const HttpConnections&) = delete;

  /// Until stop(). Throws std::system_error where the sockets cannot be waited for.
  void run();
  /// From any thread; run() returns soon after it.
  void stop();

 private:
  using Clock = std::chrono::steady_clock;
  class Connection;

  void wait();
  void accept();
  bool is_full() const;
  bool evict_slowest_connection();
  bool answer_one_request(bool urgent);
  int timeout_ms() const;

  const int listening_socket_;
  const int wake_;
  const RequestHandler answer_;
  const IsPriority is_urgent_;
  std::list<Connection> connections_;
  bool has_pending_connection_ = false;  // to be accepted
  Clock::time_point accept_at_{};        // not before
  std::atomic<bool> stop_{false};
};

}  // namespace eckart::status_server
