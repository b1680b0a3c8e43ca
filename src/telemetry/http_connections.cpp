#include "telemetry/http_connections.hpp"

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

namespace eckart::telemetry {
namespace {

using std::chrono::milliseconds;

constexpr std::size_t kMaxConnections = 16;  // each takes a descriptor that images may need
constexpr std::size_t kMaxHeadBytes = 16384;
constexpr milliseconds kMaxQuestion{1000}, kMaxTalk{5000};  // the answer with it
// When there are too many connections, one may be closed that has been silent for so long. A client
// that had to wait for its turn has sent its request by then.
constexpr milliseconds kMinPatience{5}, kMinPatienceWithReader{20};
constexpr milliseconds kOutOfDescriptorsPause{100};

constexpr const char* kTooLong =
    "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\nContent-Length: "
    "0\r\n\r\n";

bool would_block() { return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR; }

}  // namespace

class HttpConnections::Connection {
 public:
  enum class State { asks, has_asked, is_answered, leaves, gone };
  explicit Connection(int socket) : socket_(socket) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;
  ~Connection() { ::close(socket_); }

  State state() const { return state_; }
  const std::string& head() const { return head_; }
  pollfd poll_entry() const {
    return {.fd = socket_,
            .events = short(state_ == State::is_answered ? POLLOUT : POLLIN),
            .revents = 0};
  }

  void advance() {
    if (state_ == State::asks) read_head();
    if (state_ == State::is_answered) send();
    if (state_ == State::leaves) discard();
  }
  void answer(std::string text) {
    answer_ = std::move(text);
    moved_ = Clock::now();
    state_ = State::is_answered;
    send();
  }

  Clock::time_point deadline() const {
    return begin_ + (state_ == State::asks ? kMaxQuestion : kMaxTalk);
  }
  /// For others that wait: not before it is known to be slow.
  Clock::time_point may_be_closed_at() const {
    switch (state_) {
      case State::asks:
        return begin_ + kMinPatience;
      case State::has_asked:
        return Clock::time_point::max();
      case State::is_answered:
        return moved_ + kMinPatienceWithReader;
      default:
        return moved_;
    }
  }

 private:
  void read_head() {
    std::array<char, 4096> bytes;
    for (;;) {
      const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got < 0 && would_block()) return;
      if (got <= 0) return end();
      head_.append(bytes.data(), std::size_t(got));
      if (head_.find("\r\n\r\n") != head_.npos) {
        state_ = State::has_asked;
        return;
      }
      if (head_.size() > kMaxHeadBytes) return answer(kTooLong);
    }
  }

  void send() {
    while (sent_ < answer_.size()) {
      const ssize_t sent = ::send(socket_, answer_.data() + sent_, answer_.size() - sent_,
                                  MSG_DONTWAIT | MSG_NOSIGNAL);
      if (sent < 0 && would_block()) return;
      if (sent < 0) return end();
      sent_ += std::size_t(sent);
      moved_ = Clock::now();
    }
    answer_.clear();
    ::shutdown(socket_, SHUT_WR);
    state_ = State::leaves;
    discard();
  }

  /// What a client still sends, a request's body say: to close before it is read would take back
  /// an answer that is on its way.
  void discard() {
    std::array<char, 4096> bytes;
    for (int reads = 0; reads < 16; ++reads) {
      const ssize_t got = ::recv(socket_, bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got < 0 && would_block()) return;
      if (got <= 0) return end();
    }
  }

  void end() { state_ = State::gone; }

  const int socket_;
  State state_ = State::asks;
  std::string head_, answer_;
  std::size_t sent_ = 0;
  Clock::time_point begin_ = Clock::now(), moved_ = begin_;  // moved_: the last byte sent
};

HttpConnections::HttpConnections(int listening, Answer answer, IsUrgent is_urgent)
    : listening_(listening),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      answer_(std::move(answer)),
      is_urgent_(std::move(is_urgent)) {
  if (wake_ < 0) throw std::system_error(errno, std::generic_category(), "eventfd");
}

HttpConnections::~HttpConnections() { ::close(wake_); }

void HttpConnections::stop() {
  stop_ = true;
  ::eventfd_write(wake_, 1);
}

void HttpConnections::run() {
  while (!stop_) {
    wait();
    accept();
    for (Connection& connection : connections_) connection.advance();
    while (answer_one(true)) {
    }
    answer_one(false);  // and then look who else has come
    const auto now = Clock::now();
    std::erase_if(connections_, [&](const Connection& connection) {
      return connection.state() == Connection::State::gone || connection.deadline() <= now;
    });
  }
}

void HttpConnections::wait() {
  const int listening = accept_at_ <= Clock::now() ? listening_ : -1;
  std::vector<pollfd> entries{{.fd = wake_, .events = POLLIN, .revents = 0},
                              {.fd = listening, .events = POLLIN, .revents = 0}};
  for (const Connection& connection : connections_) entries.push_back(connection.poll_entry());
  if (::poll(entries.data(), entries.size(), timeout_ms()) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
    entries[1].revents = 0;
  }
  if ((entries[1].revents & (POLLERR | POLLNVAL)) != 0)
    throw std::system_error(EBADF, std::generic_category(), "the listening socket");
  is_somebody_waiting_ = entries[1].revents != 0;
}

int HttpConnections::timeout_ms() const {
  const auto now = Clock::now();
  auto next = accept_at_ > now ? accept_at_ : Clock::time_point::max();
  for (const Connection& connection : connections_) {
    if (connection.state() == Connection::State::has_asked) return 0;
    next = std::min(next, connection.deadline());
  }
  if (next == Clock::time_point::max()) return -1;
  return int(std::max<milliseconds::rep>(0, std::chrono::ceil<milliseconds>(next - now).count()));
}

bool HttpConnections::is_full() const { return connections_.size() >= kMaxConnections; }

void HttpConnections::accept() {
  if (!is_somebody_waiting_) return;
  do {
    if (is_full() && !close_slowest()) {
      accept_at_ = Clock::now() + kMinPatience;
      return;
    }
    const int socket = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0) {
      connections_.emplace_back(socket).advance();
    } else if (errno != EINTR && errno != ECONNABORTED) {
      const bool none_left = errno == EMFILE || errno == ENFILE || errno == ENOMEM;
      if (none_left) accept_at_ = Clock::now() + kOutOfDescriptorsPause;
      return;
    }
  } while (!is_full());
}

/// False where none has kept others waiting for long.
bool HttpConnections::close_slowest() {
  const auto slowest = std::min_element(
      connections_.begin(), connections_.end(),
      [](const auto& a, const auto& b) { return a.may_be_closed_at() < b.may_be_closed_at(); });
  if (slowest->may_be_closed_at() > Clock::now()) return false;
  connections_.erase(slowest);
  return true;
}

bool HttpConnections::answer_one(bool urgent) {
  for (Connection& connection : connections_) {
    if (connection.state() != Connection::State::has_asked ||
        (urgent && !is_urgent_(connection.head())))
      continue;
    connection.answer(answer_(connection.head()));
    return true;
  }
  return false;
}

}  // namespace eckart::telemetry
