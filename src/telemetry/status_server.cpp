#include "telemetry/status_server.hpp"

#include <httplib.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <semaphore>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "telemetry/status_page.hpp"

namespace eckart::telemetry {
namespace {

constexpr int kThreads = 16;
constexpr std::chrono::seconds kLongestQuestion{1}, kLongestTalk{5};  // the answer with it

constexpr std::size_t kLongestBody = std::size_t(64) << 20;

bool is_socket_path(const std::string& address) { return address.starts_with('/'); }

struct HostAndPort {
  std::string host;
  int port;
};

HostAndPort host_and_port(const std::string& address) {
  const std::size_t colon = address.rfind(':');
  std::string host = address.substr(0, colon);
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return {host, std::atoi(address.c_str() + colon + 1)};
}

FatalError cannot_listen(const std::string& address, const std::string& why) {
  return {ExitCode::cannot_create, "cannot listen on " + printable(address) + ": " + why};
}

/// Whether a process listens there; what is left of a dead one is removed.
bool is_taken(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISSOCK(status.st_mode)) return false;
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  // One that is stopped, and has many who wait, would let this wait as well.
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  const bool refused =
      ::connect(probe, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == ECONNREFUSED;
  ::close(probe);
  if (refused) ::unlink(path.c_str());
  return !refused;
}

/// A page of another site must not read this one by a name that leads here.
bool names_loopback(const std::string& host) {
  const std::size_t colon = host.rfind(':');
  const bool has_port = colon != host.npos && host.find(']', colon) == host.npos;
  const std::string name = has_port ? host.substr(0, colon) : host;
  return name.empty() || name == "localhost" || name == "127.0.0.1" || name == "[::1]";
}

/// Accepts no more connections than its threads talk to, and one: others wait in the kernel, and
/// take none of the descriptors that images need.
class Talkers : public httplib::TaskQueue {
 public:
  void enqueue(std::function<void()> talk) override {
    free_.acquire();
    threads_.enqueue([this, talk = std::move(talk)] {
      talk();
      free_.release();
    });
  }
  void shutdown() override { threads_.shutdown(); }

 private:
  std::counting_semaphore<kThreads> free_{kThreads};
  httplib::ThreadPool threads_{kThreads};
};

/// A connection that ends at a time, however slowly its client talks or listens, and when `stopped`
/// says so: neither the server's threads nor its end wait for any client.
class Connection : public httplib::Stream {
 public:
  using Clock = std::chrono::steady_clock;
  Connection(int socket, std::function<bool()> stopped)
      : socket_(socket), stopped_(std::move(stopped)) {}
  ~Connection() override {
    ::shutdown(socket_, SHUT_RDWR);
    ::close(socket_);
  }

  ssize_t read(char* to, std::size_t size) override {
    if (next_ == filled_) {
      if (!wait_for(POLLIN, end_of_question_)) return -1;
      const ssize_t got = ::recv(socket_, buffer_.data(), buffer_.size(), MSG_DONTWAIT);
      if (got <= 0) return got;
      next_ = 0;
      filled_ = std::size_t(got);
    }
    const std::size_t taken = std::min(size, filled_ - next_);
    std::copy_n(buffer_.data() + next_, taken, to);
    next_ += taken;
    return ssize_t(taken);
  }
  ssize_t write(const char* from, std::size_t size) override {
    return wait_for(POLLOUT, end_) ? ::send(socket_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL) : -1;
  }
  bool is_readable() const override {
    return next_ < filled_ || wait_for(POLLIN, end_of_question_);
  }
  bool is_writable() const override { return wait_for(POLLOUT, end_); }
  socket_t socket() const override { return socket_; }
  void get_remote_ip_and_port(std::string&, int&) const override {}  // nobody asks
  void get_local_ip_and_port(std::string&, int&) const override {}

 private:
  bool wait_for(short events, Clock::time_point end) const {
    constexpr int kLook_ms = 50;
    pollfd asked{.fd = socket_, .events = events, .revents = 0};
    while (!stopped_() && Clock::now() < end) {
      if (::poll(&asked, 1, kLook_ms) > 0) return true;
    }
    return false;
  }

  const int socket_;
  const std::function<bool()> stopped_;
  const Clock::time_point begin_ = Clock::now(), end_of_question_ = begin_ + kLongestQuestion,
                          end_ = begin_ + kLongestTalk;
  std::array<char, 4096> buffer_;
  std::size_t next_ = 0, filled_ = 0;  // of what was read ahead
};

}  // namespace

class StatusServer::Http : public httplib::Server {
  /// One request a connection.
  bool process_and_close_socket(socket_t socket) override {
    Connection connection(socket, [this] { return svr_sock_ == INVALID_SOCKET; });
    bool closed = false;
    return process_request(connection, true, closed, {});
  }
};

StatusServer::StatusServer(const std::string& address, StatusPages pages)
    : socket_(is_socket_path(address) ? address : ""),
      pages_(std::move(pages)),
      http_(std::make_unique<Http>()) {
  using httplib::Request;
  using httplib::Response;
  const auto get = [this](const char* path, std::function<Answer(const Request&)> answer) {
    http_->Get(path, [answer = std::move(answer)](const Request& request, Response& response) {
      const Answer given = answer(request);
      response.status = given.status;
      response.set_content(given.body, given.type);
    });
  };
  const auto well = [](const std::function<std::string()>& why_not) {
    return [&why_not](const Request&) {
      const std::string why = why_not();
      return Answer{.status = why.empty() ? 200 : 503, .body = (why.empty() ? "ok" : why) + '\n'};
    };
  };
  get("/", [](const Request&) {
    return Answer{.type = "text/html; charset=utf-8", .body = std::string(status_page())};
  });
  get("/status.json", [this](const Request& request) {
    const std::string since = request.get_param_value("since");
    return Answer{.type = "application/json", .body = pages_.json(std::atof(since.c_str()))};
  });
  get("/status.txt", [this](const Request&) { return Answer{.body = pages_.text()}; });
  get("/metrics", [this](const Request&) {
    return Answer{.type = "text/plain; version=0.0.4; charset=utf-8", .body = pages_.metrics()};
  });
  get("/healthz", well(pages_.why_not_healthy));
  get("/readyz", well(pages_.why_not_ready));
  http_->new_task_queue = [] { return new Talkers(); };  // which it deletes
  http_->set_payload_max_length(1024);
  // One address is one process's, unlike with SO_REUSEPORT, which is the library's default.
  http_->set_socket_options([](int socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  });
  http_->set_default_headers(
      {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  http_->set_pre_routing_handler([this](const Request& request, Response& response) {
    using httplib::Server;
    if (request.method != "GET" && request.method != "HEAD") {
      response.status = 405;
      response.set_header("Allow", "GET, HEAD");
      return Server::HandlerResponse::Handled;
    }
    if (request.has_header("Range")) {  // thousands of which make megabytes of a page
      response.status = 416;
      return Server::HandlerResponse::Handled;
    }
    if (!socket_.empty() || names_loopback(request.get_header_value("Host")))
      return Server::HandlerResponse::Unhandled;
    response.status = 403;
    response.set_content("Host names another machine: a proxy should say localhost\n",
                         "text/plain");
    return Server::HandlerResponse::Handled;
  });
  if (socket_.size() >= sizeof(sockaddr_un::sun_path))
    throw cannot_listen(address, "the path is too long for a socket");
  if (!socket_.empty() && is_taken(socket_)) throw cannot_listen(address, "another process does");

  errno = 0;
  bool bound = false;
  if (socket_.empty()) {
    const auto [host, port] = host_and_port(address);
    bound = http_->bind_to_port(host, port);
  } else {
    http_->set_address_family(AF_UNIX);
    bound = http_->bind_to_port(socket_, 80);  // a port that means nothing
    if (bound) ::chmod(socket_.c_str(), 0660);
  }
  if (!bound) throw cannot_listen(address, errno ? std::strerror(errno) : "it cannot be had");
  thread_ = std::thread([this, address] {
    http_->listen_after_bind();
    has_ended_ = true;
    if (!is_to_end_) spdlog::error("nobody answers on {} any more", printable(address));
  });
}

StatusServer::~StatusServer() {
  is_to_end_ = true;
  while (!http_->is_running() && !has_ended_) std::this_thread::yield();  // too soon for stop()
  http_->stop();
  thread_.join();
  if (!socket_.empty()) ::unlink(socket_.c_str());
}

std::string fetch(const std::string& address, const std::string& path) {
  const bool is_socket = is_socket_path(address);
  const auto [host, port] = is_socket ? HostAndPort{address, 80} : host_and_port(address);
  httplib::Client client(host, port);
  if (is_socket) client.set_address_family(AF_UNIX);
  client.set_connection_timeout(5);
  client.set_read_timeout(10);
  std::string body;
  const httplib::Result result = client.Get(path, [&](const char* part, std::size_t size) {
    body.append(part, size);
    return body.size() <= kLongestBody;
  });
  if (!result && body.size() > kLongestBody)
    throw FatalError(ExitCode::unavailable,
                     "what answers on " + printable(address) + " is no eckart: it does not end");
  if (!result)
    throw FatalError(ExitCode::unavailable, "no eckart answers on " + printable(address));
  if (result->status != 200)
    throw FatalError(ExitCode::unavailable, printable(address) + " answers " +
                                                std::to_string(result->status) + " to " + path);
  return body;
}

}  // namespace eckart::telemetry
