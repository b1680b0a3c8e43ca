#pragma once

#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::status_server {

/// Whether an address, as settings::ListenAddress has it, is the path of a Unix socket.
bool is_socket_path(const std::string& address);

struct HostAndPort {
  std::string host;  ///< an IPv6 address without its brackets
  int port;
};
HostAndPort host_and_port(const std::string& address);

/// A socket that listens on a port or a Unix socket, and does not block. The file of a Unix socket
/// is its owner's and group's (mode 0660) from its first moment; one that a dead process has left
/// is replaced. One address is one process's. Throws FatalError(cannot_create).
FileDescriptor listen_on(const std::string& address);

}  // namespace eckart::status_server
