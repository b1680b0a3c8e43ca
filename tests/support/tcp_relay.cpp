#include "tests/support/tcp_relay.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>
#include <vector>

namespace eckart::test {
namespace {

constexpr int kPollMs = 20;

struct Link {
  int client, server;
};

sockaddr_in loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(std::uint16_t(port));
  return address;
}

/// Returns the number of bytes; 0 at the end of the connection.
std::int64_t relay(int from, int to) {
  std::array<char, 65536> buffer;
  const ssize_t count = ::read(from, buffer.data(), buffer.size());
  if (count <= 0) return 0;
  for (ssize_t sent = 0; sent < count;) {
    const ssize_t part = ::send(to, buffer.data() + sent, std::size_t(count - sent), MSG_NOSIGNAL);
    if (part <= 0) return 0;
    sent += part;
  }
  return count;
}

void close_both(const Link& link) {
  ::close(link.client);
  ::close(link.server);
}

}  // namespace

TcpRelay::TcpRelay(int target_port)
    : target_port_(target_port), listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  if (::bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      ::listen(listener_, 16) != 0 ||
      ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::system_error(errno, std::generic_category(), "no relay");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { run(); });
}

TcpRelay::~TcpRelay() {
  ends_ = true;
  thread_.join();
  ::close(listener_);
}

void TcpRelay::run() {
  std::vector<Link> links;
  for (int cuts = 0; !ends_;) {
    if (cuts != cuts_) {
      cuts = cuts_;
      for (const Link& link : links) close_both(link);
      links.clear();
    }
    std::vector<pollfd> ends{{listener_, POLLIN, 0}};
    for (const Link& link : links) {
      ends.push_back({link.client, POLLIN, 0});
      ends.push_back({link.server, POLLIN, 0});
    }
    ::poll(ends.data(), ends.size(), kPollMs);
    std::vector<Link> open;
    for (std::size_t i = 0; i < links.size(); ++i) {
      bool is_open = true;
      if (ends[2 * i + 1].revents != 0) {
        const std::int64_t count = relay(links[i].client, links[i].server);
        client_bytes_ += count;
        is_open = count > 0;
      }
      if (is_open && ends[2 * i + 2].revents != 0)
        is_open = relay(links[i].server, links[i].client) > 0;
      is_open ? open.push_back(links[i]) : close_both(links[i]);
    }
    links = std::move(open);
    if (ends[0].revents == 0) continue;
    const Link link{::accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC),
                    ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    const sockaddr_in target = loopback(target_port_);
    if (refuses_ ||
        ::connect(link.server, reinterpret_cast<const sockaddr*>(&target), sizeof target) != 0) {
      close_both(link);
      continue;
    }
    links.push_back(link);
    ++connections_;
  }
  for (const Link& link : links) close_both(link);
}

}  // namespace eckart::test
