#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace eckart::test {

/// A port of the loopback interface that is kept for this test: the kernel gives it to nobody who
/// asks for any port, but who asks for it with SO_REUSEADDR, as a server does, can listen on it.
class FreePort {
 public:
  FreePort() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const int yes = 1;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::setsockopt(socket_, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) != 0 ||
        ::bind(socket_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(socket_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
      throw std::system_error(errno, std::generic_category(), "no free port");
    number_ = ntohs(address.sin_port);
  }
  ~FreePort() { ::close(socket_); }
  FreePort(const FreePort&) = delete;
  FreePort& operator=(const FreePort&) = delete;

  int number() const { return number_; }

 private:
  const int socket_;
  int number_ = 0;
};

}  // namespace eckart::test
