#pragma once

#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::status_server {

/// Whether an address, in the format of settings::ListenAddress, is the path of a Unix socket.
bool is_socket_path(const std::string& address);

struct HostAndPort {
  std::string host;  ///< an IPv6 address without its brackets
  int port;
};
HostAndPort host_and_port(const std::string& address);

/// Creates a nonblocking socket that listens on a port or on a Unix socket. The file of a Unix
/// socket has mode 0660 from its creation, and replaces that of a dead process. Only one process
/// may use an address. Throws FatalError(cannot_create).
files::FileDescriptor listen_on(const std::string& address);

}  // namespace eckart::status_server
