#include "status_server/http_connections.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>
#include <utility>
#include <vector>

namespace eckart::status_server {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxConnections = 32;  // each needs a file descriptor, which images also need
constexpr std::size_t kMaxHeadBytes = 16384;
// If there are too many connections, one that has been silent for this time may be closed. Requests
// of clients that waited to be accepted have arrived by then.
constexpr milliseconds kMinReadTime{20}, kMinWriteIdleTime{20};
constexpr milliseconds kOutOfDescriptorsPause{100};

constexpr const char* kHeadTooLongResponse =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: "
    "0\r\n\r\n";

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class HttpConnections::Connection {
 public:
  enum class State { reading_request, request_complete, writing_response, draining, closed };
  Connection(int socket, const ClientTimeouts& timeouts) : socket_(socket), timeouts_(timeouts) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  State state() const { return state_; }
  const std::string& head() const { return head_; }
  pollfd poll_entry() const {
    return {.fd = socket_,
            .events = short(state_ == State::writing_response ? POLLOUT : POLLIN),
            .revents = 0};
  }

  void advance() {
    if (state_ == State::reading_request) read_head();
    if (state_ == State::writing_response) send();
    if (state_ == State::draining) drain_input();
  }
  void start_response(std::string text) {
    response_ = std::move(text);
    last_sent_at_ = Clock::now();
    state_ = State::writing_response;
    send();
  }

  Instant deadline() const {
    return accepted_at_ +
           (state_ == State::reading_request ? timeouts_.request : timeouts_.exchange);
  }
  /// The time from which the connection may be closed in favor of waiting ones: it must first have
  /// been slow.
  Instant evictable_at() const {
    switch (state_) {
      case State::reading_request:
        return accepted_at_ + kMinReadTime;
      case State::request_complete:
        return Instant::max();
      case State::writing_response:
        return last_sent_at_ + kMinWriteIdleTime;
      default:
        return last_sent_at_;
    }
  }

 private:
  void read_head() {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count < 0 && would_block()) return;
      if (count <= 0) return end();
      head_.append(bytes.data(), std::size_t(count));
      if (head_.find("\r\n\r\n") != head_.npos) {
        state_ = State::request_complete;
        return;
      }
      if (head_.size() > kMaxHeadBytes) return start_response(kHeadTooLongResponse);
    }
  }

  void send() {
    while (sent_ < response_.size()) {
      const ssize_t sent = ::send(socket_, response_.data() + sent_, response_.size() - sent_,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && would_block()) return;
      if (sent < 0) return end();
      sent_ += std::size_t(sent);
      last_sent_at_ = Clock::now();
    }
    response_.clear();
    ::shutdown(socket_, SHUT_WR);
    state_ = State::draining;
    drain_input();
  }

  /// Reads and discards what the client still sends, such as a body. Closing a socket with unread
  /// input could discard the response on its way.
  void drain_input() {
    std::array<char, 4096> bytes;
    for (int reads = 0; reads < 16; ++reads) {
      const ssize_t count = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (count < 0 && would_block()) return;
      if (count <= 0) return end();
    }
  }

  void end() { state_ = State::closed; }

  const int socket_;
  const ClientTimeouts& timeouts_;
  State state_ = State::reading_request;
  std::string head_, response_;
  std::size_t sent_ = 0;
  Instant accepted_at_ = Clock::now();
  Instant last_sent_at_ = accepted_at_;  // when the last byte was sent
};

HttpConnections::HttpConnections(int listening_socket, RequestHandler handle_request,
                                 IsPriority is_priority, ClientTimeouts timeouts)
    : listening_socket_(listening_socket),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      handle_request_(std::move(handle_request)),
      is_priority_(std::move(is_priority)),
      timeouts_(timeouts) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

HttpConnections::~HttpConnections() { ::close(wake_); }

void HttpConnections::stop() {
  should_stop_ = true;
  ::eventfd_write(wake_, 1);
}

void HttpConnections::run() {
  while (!should_stop_) {
    wait();
    accept();
    for (Connection& connection : connections_) connection.advance();
    while (answer_one_request(true)) {
    }
    answer_one_request(false);  // then accept new connections before the next
    const auto now = Clock::now();
    std::erase_if(connections_, [&](const Connection& connection) {
      return connection.state() == Connection::State::closed || connection.deadline() <= now;
    });
  }
}

void HttpConnections::wait() {
  const int listening = accept_at_ <= Clock::now() ? listening_socket_ : -1;
  std::vector<pollfd> entries{{.fd = wake_, .events = POLLIN, .revents = 0},
                              {.fd = listening, .events = POLLIN, .revents = 0}};
  for (const Connection& connection : connections_) entries.push_back(connection.poll_entry());
  if (::poll(entries.data(), entries.size(), timeout_ms()) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
    entries[1].revents = 0;
  }
  if ((entries[1].revents & (POLLERR | POLLNVAL)) != 0)
    throw std::system_error(EBADF, std::generic_category(), "the listening socket");
  has_pending_connection_ = entries[1].revents != 0;
}

int HttpConnections::timeout_ms() const {
  const auto now = Clock::now();
  auto next = accept_at_ > now ? accept_at_ : Instant::max();
  for (const Connection& connection : connections_) {
    if (connection.state() == Connection::State::request_complete) return 0;
    next = std::min(next, connection.deadline());
  }
  if (next == Instant::max()) return -1;
  return int(std::max<milliseconds::rep>(0, std::chrono::ceil<milliseconds>(next - now).count()));
}

bool HttpConnections::is_full() const { return connections_.size() >= kMaxConnections; }

void HttpConnections::accept() {
  if (!has_pending_connection_) return;
  do {
    if (is_full() && !evict_slowest_connection()) return;
    const int socket = ::accept4(listening_socket_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      connections_.emplace_back(socket, timeouts_).advance();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      const bool is_out_of_resources = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      if (is_out_of_resources) accept_at_ = Clock::now() + kOutOfDescriptorsPause;
      return;
    }
  } while (!is_full());
}

/// Closes the connection that has been slow for longest. If none was slow for long enough, returns
/// false and sets `accept_at_`.
bool HttpConnections::evict_slowest_connection() {
  const auto slowest = std::min_element(
      connections_.begin(), connections_.end(),
      [](const auto& a, const auto& b) { return a.evictable_at() < b.evictable_at(); });
  const auto now = Clock::now();
  if (slowest->evictable_at() > now) {
    accept_at_ = std::min(slowest->evictable_at(), now + kMinReadTime);
    return false;
  }
  connections_.erase(slowest);
  return true;
}

bool HttpConnections::answer_one_request(bool only_priority) {
  for (Connection& connection : connections_) {
    if (connection.state() != Connection::State::request_complete ||
        (only_priority && !is_priority_(connection.head())))
      continue;
    connection.start_response(handle_request_(connection.head()));
    return true;
  }
  return false;
}

}  // namespace eckart::status_server
