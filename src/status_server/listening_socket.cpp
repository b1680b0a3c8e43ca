#include "status_server/listening_socket.hpp"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <system_error>

#include "core/error.hpp"
#include "text/printable.hpp"

namespace eckart::status_server {
namespace {

constexpr int kSocketFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
constexpr mode_t kSocketMode = 0660;

[[noreturn]] void fail(const std::string& address, const std::string& error) {
  throw FatalError(ExitCode::cannot_create,
                   "cannot listen on " + text::printable(address) + ": " + error);
}

[[noreturn]] void fail(const std::string& address, int error) {
  fail(address, std::generic_category().message(error));
}

/// Whether a process listens on the socket. Removes the socket of a dead process.
bool is_socket_in_use(const std::string& path, const sockaddr_un& address) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  // The probe is nonblocking: a stopped process with a full backlog would block it.
  const files::FileDescriptor probe(::socket(AF_UNIX, kSocketFlags, 0));
  if (!probe) fail(path, errno);
  const bool is_refused =
      ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  if (is_refused) ::unlink(path.c_str());
  return !is_refused;
}

files::FileDescriptor bind_path(const std::string& path) {
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  if (path.size() >= sizeof address.sun_path) fail(path, "the path is too long for a socket");
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (is_socket_in_use(path, address)) fail(path, "another process is listening there");
  files::FileDescriptor socket(::socket(AF_UNIX, kSocketFlags, 0));
  if (!socket) fail(path, errno);
  // Linux creates the file with the mode of the socket and applies the umask. So the file never has
  // more permissions.
  ::fchmod(socket.get(), kSocketMode);
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    fail(path, errno);
  ::chmod(path.c_str(), kSocketMode);
  return socket;
}

files::FileDescriptor bind_port(const std::string& address) {
  const auto [host, port] = host_and_port(address);
  addrinfo hints{};
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found))
    fail(address, ::gai_strerror(error));
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> all(found, &::freeaddrinfo);
  int error = EADDRNOTAVAIL;
  for (const addrinfo* candidate = found; candidate; candidate = candidate->ai_next) {
    files::FileDescriptor socket(
        ::socket(candidate->ai_family, kSocketFlags, candidate->ai_protocol));
    // Not SO_REUSEPORT: only one process may use an address.
    const int yes = 1;
    if (socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0 &&
        ::bind(socket.get(), candidate->ai_addr, candidate->ai_addrlen) == 0)
      return socket;
    error = errno;
  }
  fail(address, error);
}

}  // namespace

bool is_socket_path(const std::string& address) { return address.starts_with('/'); }

HostAndPort host_and_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return {host, std::atoi(address.c_str() + colon + 1)};
}

files::FileDescriptor listen_on(const std::string& address) {
  constexpr int kBacklog = 1024;  // connections that are not accepted yet
  files::FileDescriptor socket = is_socket_path(address) ? bind_path(address) : bind_port(address);
  if (::listen(socket.get(), kBacklog) != 0) fail(address, errno);
  return socket;
}

}  // namespace eckart::status_server
