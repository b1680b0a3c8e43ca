#include "telemetry/status_server.hpp"

#include <httplib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "telemetry/status_page.hpp"

namespace eckart::telemetry {
namespace {

constexpr int kThreads = 8;  // a browser keeps several connections open

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
  const int probe = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
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

}  // namespace

class StatusServer::Http : public httplib::Server {};

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
  http_->new_task_queue = [] { return new httplib::ThreadPool(kThreads); };  // which it deletes
  http_->set_payload_max_length(1024);
  http_->set_default_headers(
      {{"Cache-Control", "no-store"}, {"X-Content-Type-Options", "nosniff"}});
  if (socket_.empty()) {
    http_->set_pre_routing_handler([](const Request& request, Response& response) {
      if (names_loopback(request.get_header_value("Host")))
        return httplib::Server::HandlerResponse::Unhandled;
      response.status = 403;
      response.set_content("Host names another machine: a proxy should say localhost\n",
                           "text/plain");
      return httplib::Server::HandlerResponse::Handled;
    });
  } else if (socket_.size() >= sizeof(sockaddr_un::sun_path)) {
    throw cannot_listen(address, "the path is too long for a socket");
  } else if (is_taken(socket_)) {
    throw cannot_listen(address, "another process does");
  }

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
  thread_ = std::thread([this] { http_->listen_after_bind(); });
}

StatusServer::~StatusServer() {
  while (!http_->is_running()) std::this_thread::yield();  // stop() does nothing before that
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
  const httplib::Result result = client.Get(path);
  if (!result)
    throw FatalError(ExitCode::unavailable, "no eckart answers on " + printable(address));
  if (result->status != 200)
    throw FatalError(ExitCode::unavailable, printable(address) + " answers " +
                                                std::to_string(result->status) + " to " + path);
  return result->body;
}

}  // namespace eckart::telemetry
