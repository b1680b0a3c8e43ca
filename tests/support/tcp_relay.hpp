#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

namespace eckart::test {

/// Relays connections on a port of the loopback interface to another port, until cut() ends them:
/// a network that fails when a test wants it to.
class TcpRelay {
 public:
  explicit TcpRelay(int target_port);
  ~TcpRelay();
  TcpRelay(const TcpRelay&) = delete;
  TcpRelay& operator=(const TcpRelay&) = delete;

  int port() const { return port_; }
  /// Ends all connections. New ones are relayed.
  void cut() { ++cuts_; }
  /// While true, new connections are closed at once.
  void refuse(bool refuses) { refuses_ = refuses; }
  /// Connections that were relayed so far.
  int connections() const { return connections_; }
  /// Bytes from clients so far.
  std::int64_t client_bytes() const { return client_bytes_; }

 private:
  void run();

  const int target_port_;
  int listener_ = -1, port_ = 0;
  std::atomic<bool> refuses_{false}, ends_{false};
  std::atomic<int> cuts_{0}, connections_{0};
  std::atomic<std::int64_t> client_bytes_{0};
  std::thread thread_;
};

}  // namespace eckart::test
