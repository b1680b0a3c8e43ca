#pragma once

#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/free_port.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {

/// A RabbitMQ of its own, in a temporary folder, with ports, node name and cookie of its own, and
/// its own epmd. It ends with this object, and with the process of the test.
class RabbitMq {
 public:
  /// Why no broker can be started here; empty if one can.
  static std::string missing();
  /// The broker of this program. It is started by the first call.
  static RabbitMq& shared();

  /// Waits until it takes connections. Throws std::runtime_error, with its log, if it ends.
  RabbitMq();
  ~RabbitMq();
  RabbitMq(const RabbitMq&) = delete;
  RabbitMq& operator=(const RabbitMq&) = delete;

  int port() const { return port_.number(); }
  std::string url() const { return "amqp://127.0.0.1:" + std::to_string(port()); }

  /// For TLS: the broker has certificates of this authority, and takes only clients that have one.
  bool has_tls() const { return !ca().empty(); }
  int tls_port() const { return tls_port_.number(); }
  std::filesystem::path ca() const;
  std::filesystem::path client_certificate() const { return folder_.path() / "client.pem"; }
  std::filesystem::path client_key() const { return folder_.path() / "client.key"; }
  /// Another authority.
  std::filesystem::path other_ca() const { return folder_.path() / "other.pem"; }

  /// Kills the broker, as a power failure does.
  void kill();
  /// Starts it again with the same data.
  void start();

 private:
  pid_t run(const std::vector<std::string>& command, const char* log) const;
  void make_certificates() const;
  void write_configuration() const;
  std::vector<std::string> environment() const;
  std::string log(const char* name) const;
  bool start_epmd();

  const TempFolder folder_;
  const FreePort port_, tls_port_, distribution_port_;
  std::optional<FreePort> epmd_port_;
  pid_t epmd_ = 0, server_ = 0;
};

}  // namespace eckart::test
