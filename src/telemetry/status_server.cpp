#include "telemetry/status_server.hpp"

#include <fcntl.h>
#include <httplib.h>
#include <spdlog/spdlog.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "telemetry/host_header.hpp"
#include "telemetry/http_connections.hpp"
#include "telemetry/status_page.hpp"

namespace eckart::telemetry {
namespace {

constexpr std::size_t kMaxBodyBytes = std::size_t(64) << 20;

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

FatalError listen_error(const std::string& address, const std::string& error) {
  return {ExitCode::cannot_create, "cannot listen on " + printable(address) + ": " + error};
}

/// Whether a process listens there; what is left of a dead one is removed.
bool is_socket_in_use(const std::string& path) {
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

/// A request's head to be read, and the answer to it.
class RequestStream : public httplib::Stream {
 public:
  explicit RequestStream(const std::string& request) : request_(request) {}

  std::string& answer() { return answer_; }
  ssize_t read(char* to, std::size_t size) override {
    const std::size_t count = request_.copy(to, size, next_);
    next_ += count;
    return ssize_t(count);
  }
  ssize_t write(const char* from, std::size_t size) override {
    answer_.append(from, size);
    return ssize_t(size);
  }
  bool is_readable() const override { return next_ < request_.size(); }
  bool is_writable() const override { return true; }
  socket_t socket() const override { return 0; }
  void get_remote_ip_and_port(std::string&, int&) const override {}  // nobody asks
  void get_local_ip_and_port(std::string&, int&) const override {}

 private:
  const std::string& request_;
  std::size_t next_ = 0;
  std::string answer_;
};

/// What is wrong with how a request names its host; 0 where nothing is. A browser sends one Host
/// always; a health check in HTTP/1.0 may send none.
int host_header_status(const httplib::Request& request) {
  const std::size_t count = request.get_header_value_count("Host");
  if (count == 0 && request.version == "HTTP/1.0") return 0;
  if (count != 1) return 400;
  return is_loopback_host(request.get_header_value("Host")) ? 0 : 403;
}

constexpr const char* kMalformedResponse =
    "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

bool is_health_check(const std::string& head) {
  return head.starts_with("GET /healthz ") || head.starts_with("HEAD /healthz ") ||
         head.starts_with("GET /readyz ") || head.starts_with("HEAD /readyz ");
}

}  // namespace

class StatusServer::HttpHandler : public httplib::Server {
 public:
  ~HttpHandler() override {
    if (svr_sock_ != INVALID_SOCKET) ::close(svr_sock_);
  }
  int listening() const { return svr_sock_; }
  std::string answer(const std::string& head) {
    if (!is_well_formed_request_head(head)) return kMalformedResponse;
    RequestStream exchange(head);
    bool closed = false;
    process_request(exchange, true, closed, {});
    return std::move(exchange.answer());
  }
};

StatusServer::StatusServer(const std::string& address, StatusHandlers pages)
    : socket_(is_socket_path(address) ? address : ""),
      handlers_(std::move(pages)),
      http_(std::make_unique<HttpHandler>()) {
  using httplib::Request;
  using httplib::Response;
  const auto get = [this](const char* path, std::function<HttpResponse(const Request&)> answer) {
    http_->Get(path, [answer = std::move(answer)](const Request& request, Response& response) {
      const HttpResponse given = answer(request);
      response.status = given.status;
      response.set_content(given.body, given.type);
    });
  };
  const auto health_check = [](const std::function<std::string()>& why_not) {
    return [&why_not](const Request&) {
      const std::string error = why_not();
      return HttpResponse{.status = error.empty() ? 200 : 503,
                          .body = (error.empty() ? "ok" : error) + '\n'};
    };
  };
  get("/", [](const Request&) {
    return HttpResponse{.type = "text/html; charset=utf-8", .body = std::string(status_page())};
  });
  get("/status.json", [this](const Request& request) {
    const std::string since = request.get_param_value("since");
    return HttpResponse{.type = "application/json",
                        .body = handlers_.json(std::atof(since.c_str()))};
  });
  get("/status.txt", [this](const Request&) { return HttpResponse{.body = handlers_.text()}; });
  get("/metrics", [this](const Request&) {
    return HttpResponse{.type = "text/plain; version=0.0.4; charset=utf-8",
                        .body = handlers_.metrics()};
  });
  get("/healthz", health_check(handlers_.health_error));
  get("/readyz", health_check(handlers_.readiness_error));
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
    const int error = socket_.empty() ? host_header_status(request) : 0;
    if (error == 0) return Server::HandlerResponse::Unhandled;
    response.status = error;
    response.set_content(
        "The Host header must be there once, and name localhost, 127.0.0.1 or [::1]; a proxy "
        "should send localhost.\n",
        "text/plain");
    return Server::HandlerResponse::Handled;
  });
  if (socket_.size() >= sizeof(sockaddr_un::sun_path))
    throw listen_error(address, "the path is too long for a socket");
  if (!socket_.empty() && is_socket_in_use(socket_))
    throw listen_error(address, "another process does");

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
  // With a longer queue than the library's: many may come at a time.
  constexpr int kMaxWaiting = 1024;
  if (!bound || ::listen(http_->listening(), kMaxWaiting) != 0 ||
      ::fcntl(http_->listening(), F_SETFL, O_NONBLOCK) != 0)
    throw listen_error(address, errno ? std::strerror(errno) : "it cannot be had");
  connections_ = std::make_unique<HttpConnections>(
      http_->listening(), [this](const std::string& head) { return http_->answer(head); },
      is_health_check);
  thread_ = std::thread([this, address] {
    try {
      connections_->run();
    } catch (const std::exception& error) {
      spdlog::error("nobody answers on {} any more: {}", printable(address),
                    printable_message(error.what()));
    }
  });
}

StatusServer::~StatusServer() {
  connections_->stop();
  thread_.join();
  if (!socket_.empty()) ::unlink(socket_.c_str());
}

std::string http_get(const std::string& address, const std::string& path) {
  const bool is_socket = is_socket_path(address);
  const auto [host, port] = is_socket ? HostAndPort{address, 80} : host_and_port(address);
  httplib::Client client(host, port);
  if (is_socket) client.set_address_family(AF_UNIX);
  client.set_connection_timeout(5);
  client.set_read_timeout(10);
  std::string body;
  const httplib::Result result = client.Get(path, [&](const char* part, std::size_t size) {
    body.append(part, size);
    return body.size() <= kMaxBodyBytes;
  });
  if (!result && body.size() > kMaxBodyBytes)
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
