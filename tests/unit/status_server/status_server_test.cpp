// Tests of the status server with hostile clients and local users.
#include "status_server/status_server.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <future>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "status_server/listening_socket.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace {

std::function<void(const char* file)> before_chmod;  // called before each chmod
bool has_descriptors = true;                         // if false, socket() fails

bool has_event_descriptors = true;  // if false, eventfd() fails

}  // namespace

extern "C" int eventfd(unsigned value, int flags) noexcept {
  if (has_event_descriptors) return int(::syscall(SYS_eventfd2, value, flags));
  errno = EMFILE;
  return -1;
}

extern "C" int socket(int domain, int type, int protocol) noexcept {
  if (has_descriptors) return int(::syscall(SYS_socket, domain, type, protocol));
  errno = EMFILE;
  return -1;
}

extern "C" int chmod(const char* file, mode_t mode) noexcept {
  if (before_chmod) before_chmod(file);
  return int(::syscall(SYS_fchmodat, AT_FDCWD, file, mode));
}

namespace eckart::status_server {
namespace {

StatusHandlers make_handlers() {
  const auto nothing = [] { return std::string(); };
  return {[](double) { return std::string("{}"); }, nothing, nothing, nothing, nothing};
}

/// A TCP socket.
class Socket {
 public:
  Socket() : descriptor_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {}
  ~Socket() { ::close(descriptor_); }
  Socket(const Socket&) = delete;
  Socket& operator=(const Socket&) = delete;

  void connect(int port) {
    const sockaddr_in address = loopback(port);
    EXPECT_EQ(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&address), sizeof address),
              0);
  }
  void send(const std::string& text) {
    EXPECT_EQ(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL), ssize_t(text.size()));
  }
  /// Like send(), but ignores errors.
  void try_send(const std::string& text) {
    static_cast<void>(::send(descriptor_, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }
  bool is_closed() {
    char byte = 0;
    return ::recv(descriptor_, &byte, 1, MSG_DONTWAIT | MSG_PEEK) == 0 ||
           (errno != EAGAIN && errno != EWOULDBLOCK);
  }
  /// Receives until the server closes the connection.
  std::string receive() {
    std::string all(1 << 16, 0);
    std::string text;
    for (ssize_t count = 0; (count = ::recv(descriptor_, all.data(), all.size(), 0)) > 0;)
      text.append(all, 0, std::size_t(count));
    return text;
  }

 private:
  static sockaddr_in loopback(int port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(std::uint16_t(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
  }
  int descriptor_;
};

/// The open files of this process, in which clients and server run.
std::ptrdiff_t open_files() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"),
                       std::filesystem::directory_iterator());
}

class StatusServerOnPortTest : public ::testing::Test {
 protected:
  static constexpr std::chrono::hours kLong{1};  // so that no timeout ends what a test is about

  const test::FreePort free_port_;
  const int port_ = free_port_.number();
  const std::string address_ = "127.0.0.1:" + std::to_string(port_);
  std::unique_ptr<StatusServer> server_ =
      std::make_unique<StatusServer>(address_, make_handlers(), ClientTimeouts{kLong, kLong});
};

TEST_F(StatusServerOnPortTest, has_an_exclusive_port_that_is_reusable_after_a_stop) {
  EXPECT_THROW(StatusServer(address_, make_handlers()), FatalError);
  EXPECT_EQ(http_get(address_, "/healthz"), "ok\n");
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, make_handlers());  // immediately
  EXPECT_EQ(http_get(address_, "/healthz"), "ok\n");
}

TEST_F(StatusServerOnPortTest, stops_during_an_incomplete_request) {
  Socket slow;
  slow.connect(port_);
  slow.send("GET /healthz HTTP/1.1\r\nHost: local");
  EXPECT_EQ(http_get(address_, "/healthz"), "ok\n");  // the slow client was accepted before
  server_.reset();
  EXPECT_EQ(slow.receive(), "");
}

TEST_F(StatusServerOnPortTest, answers_despite_idle_connections_with_few_descriptors) {
  const auto before = open_files();
  std::vector<std::unique_ptr<Socket>> idle;  // the kernel can queue all of them
  for (int i = 0; i < 40; ++i) idle.emplace_back(std::make_unique<Socket>())->connect(port_);
  EXPECT_EQ(http_get(address_, "/healthz"), "ok\n");
  EXPECT_LE(open_files() - before, 40 + 33);
}

TEST_F(StatusServerOnPortTest, closes_the_connection_of_an_answered_client_that_leaves) {
  const auto before = open_files();
  EXPECT_EQ(http_get(address_, "/healthz"), "ok\n");
  EXPECT_TRUE(test::wait_for([&] { return open_files() == before; }));
}

/// Thousands of ranges would turn one page into megabytes.
TEST_F(StatusServerOnPortTest, ignores_ranges) {
  Socket client;
  client.connect(port_);
  client.send("GET /status.json HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-0,0-0\r\n\r\n");
  const std::string response = client.receive();
  EXPECT_TRUE(response.starts_with("HTTP/1.1 200 ")) << response;
  EXPECT_TRUE(response.ends_with("\r\n\r\n" + make_handlers().json(0))) << response;
}

TEST_F(StatusServerOnPortTest, rejects_methods_other_than_get_and_head) {
  for (const char* method : {"POST", "PUT", "DELETE"}) {
    Socket client;
    client.connect(port_);
    client.send(std::string(method) +
                " /healthz HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nhi");
    const std::string response = client.receive();
    EXPECT_TRUE(response.starts_with("HTTP/1.1 405 ")) << method << response;
    EXPECT_NE(response.find("\r\nAllow: GET, HEAD\r\n"), response.npos);
  }
  Socket client;
  client.connect(port_);
  client.send("HEAD /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string head = client.receive();
  EXPECT_TRUE(head.starts_with("HTTP/1.1 200 "));
  EXPECT_TRUE(head.ends_with("\r\n\r\n")) << "no body";
}

TEST_F(StatusServerOnPortTest, rejects_a_foreign_host_header) {
  for (const char* host : {"example.org", "127.0.0.1.example.org:80", "localhost@example.org"}) {
    Socket client;
    client.connect(port_);
    client.send(std::string("GET /status.json HTTP/1.1\r\nHost: ") + host + "\r\n\r\n");
    EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 403 ")) << host;
  }
}

TEST_F(StatusServerOnPortTest, requires_exactly_one_host_header) {
  const auto status_of = [&](const std::string& request) {
    Socket client;
    client.connect(port_);
    client.send(request + "\r\n");
    return client.receive().substr(0, 12);
  };
  const std::string get = "GET /healthz HTTP/1.1\r\n", local = "Host: localhost\r\n";
  EXPECT_EQ(status_of(get + local), "HTTP/1.1 200");
  EXPECT_EQ(status_of("GET /healthz HTTP/1.0\r\n"), "HTTP/1.1 200") << "which no browser sends";
  EXPECT_EQ(status_of(get), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + local + local), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + local + "Host: example.org\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + "Host:\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + "Host: :80\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(status_of("GET /healthz HTTP/1.0\r\nHost: example.org\r\n"), "HTTP/1.1 403");
  EXPECT_EQ(status_of(get + local + "Host : example.org\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + "Host : localhost\r\n"), "HTTP/1.1 400");
  const std::string zero(1, '\0');
  EXPECT_EQ(status_of(get + "Host: localhost" + zero + ".example.org\r\n"), "HTTP/1.1 400");
  EXPECT_EQ(status_of(get + local + "X: " + zero + "\r\n"), "HTTP/1.1 400");
}

/// Some clients connect and send nothing, or one byte now and then, and reconnect when they are
/// disconnected. Others send a request and do not read the response.
TEST_F(StatusServerOnPortTest, answers_despite_hundreds_of_slow_clients) {
  constexpr int kClients = 500;
  std::atomic<bool> is_running{true};
  const auto attack = std::async(std::launch::async, [&] {
    std::vector<std::unique_ptr<Socket>> clients(kClients);
    while (is_running) {
      for (int i = 0; i < kClients && is_running; ++i) {
        if (!clients[i] || clients[i]->is_closed()) {
          clients[i] = std::make_unique<Socket>();
          clients[i]->connect(port_);
          if (i % 5 == 0) clients[i]->try_send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
        } else if (i % 2 == 0) {
          clients[i]->try_send("G");
        }
      }
    }
  });
  for (int i = 0; i < 20; ++i) {
    Socket client;
    client.connect(port_);
    client.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 200 ")) << i;
  }
  is_running = false;
}

TEST_F(StatusServerOnPortTest, sends_a_response_that_fits_into_no_buffer) {
  std::string large;
  for (int i = 0; i < 2'000'000; ++i) large += std::to_string(i) + ' ';
  StatusHandlers handlers = make_handlers();
  handlers.json = [&](double) { return large; };
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, handlers, ClientTimeouts{kLong, kLong});
  Socket client;
  client.connect(port_);
  client.send("GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  const std::string response = client.receive();
  ASSERT_GT(response.size(), large.size());
  EXPECT_TRUE(response.ends_with("\r\n\r\n" + large)) << "parts are missing or sent twice";
}

/// While the first request is handled, more arrive than there may be connections.
TEST_F(StatusServerOnPortTest, answers_more_complete_requests_than_it_has_connections) {
  std::promise<void> all_sent;
  const std::shared_future<void> wait_for_all = all_sent.get_future().share();
  StatusHandlers handlers = make_handlers();
  handlers.json = [&](double) {
    wait_for_all.wait();
    return std::string("{}");
  };
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, handlers, ClientTimeouts{kLong, kLong});
  std::vector<std::unique_ptr<Socket>> clients;
  for (int i = 0; i < 60; ++i) {
    clients.emplace_back(std::make_unique<Socket>())->connect(port_);
    clients.back()->send("GET /status.json HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  all_sent.set_value();
  for (const auto& client : clients) EXPECT_TRUE(client->receive().starts_with("HTTP/1.1 200 "));
}

TEST_F(StatusServerOnPortTest, rejects_an_oversized_request_head) {
  Socket client;
  client.connect(port_);
  client.try_send("GET / HTTP/1.1\r\nX: " + std::string(20000, 'x'));
  EXPECT_TRUE(client.receive().starts_with("HTTP/1.1 431 "));
}

TEST(StatusServerOnSocket, names_the_missing_descriptors) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "status.sock").string();
  ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0) << "as a dead process leaves it";
  has_descriptors = false;
  std::string message;
  try {
    StatusServer(path, make_handlers());
  } catch (const FatalError& error) {
    message = error.what();
  }
  has_descriptors = true;
  EXPECT_EQ(message, "cannot listen on " + path + ": Too many open files");
}

TEST(StatusServerOnSocket, removes_its_socket_if_it_cannot_start) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "status.sock").string();
  has_event_descriptors = false;
  std::string message;
  try {
    StatusServer(path, make_handlers());
  } catch (const FatalError& error) {
    message = error.what();
  }
  has_event_descriptors = true;
  EXPECT_EQ(message, "cannot listen on " + path + ": Too many open files");
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(StatusServerOnSocket, keeps_another_file_at_the_path_of_its_socket) {
  const test::TempFolder folder;
  const std::filesystem::path path = folder.path() / "s";
  {
    const StatusServer server(path.native(), make_handlers());
    std::filesystem::remove(path);
    std::ofstream(path) << "theirs";
  }
  EXPECT_EQ(std::filesystem::file_size(path), 6u);
}

/// Between bind() and chmod(), anyone could connect if the mode given by bind() allowed it.
TEST(StatusServerOnSocket, is_not_open_to_others) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "status.sock").string();
  const mode_t umask_before = ::umask(0);
  mode_t mode = 0;
  before_chmod = [&](const char* file) {
    struct stat status {};
    if (file == path && ::stat(file, &status) == 0) mode = status.st_mode & 0777;
  };
  StatusServer server(path, make_handlers());
  before_chmod = {};
  ::umask(umask_before);
  EXPECT_EQ(mode, 0660U);
}

TEST(StatusServerOnSocket, does_not_block_on_an_unresponsive_socket_owner) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "status.sock").string();
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  const int busy = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::bind(busy, name, sizeof address), 0);
  ASSERT_EQ(::listen(busy, 0), 0);
  const int waiting = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  ASSERT_EQ(::connect(waiting, name, sizeof address),
            0);  // fills the backlog
  EXPECT_THROW(StatusServer(path, make_handlers()), FatalError);
  ::close(waiting);
  ::close(busy);
}

/// What a handler tells is in the response, with the type that clients expect.
TEST_F(StatusServerOnPortTest, answers_each_path) {
  std::string health, readiness;
  double since = 0;
  const StatusHandlers handlers{[&](double unix_s) {
                                  since = unix_s;
                                  return std::string("{1}");
                                },
                                [] { return std::string("metrics"); },
                                [] { return std::string("text"); },
                                [&]() -> std::string {
                                  if (readiness == "throw") throw std::runtime_error("a\nbug");
                                  return readiness;
                                },
                                [&] { return health; }};
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, handlers, ClientTimeouts{kLong, kLong});
  const auto response_to = [&](const std::string& path) {
    Socket client;
    client.connect(port_);
    client.send("GET " + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
    std::string text = client.receive();
    const std::size_t type = text.find("Content-Type: ") + 14, body = text.find("\r\n\r\n") + 4;
    return text.substr(9, 3) + ' ' + text.substr(type, text.find('\r', type) - type) + ": " +
           text.substr(body);
  };
  EXPECT_EQ(response_to("/status.json?since=17.5"), "200 application/json: {1}");
  EXPECT_EQ(since, 17.5);
  const std::string plain = " text/plain; charset=utf-8: ";
  EXPECT_EQ(response_to("/status.txt"), "200" + plain + "text");
  EXPECT_EQ(response_to("/metrics"), "200 text/plain; version=0.0.4; charset=utf-8: metrics");
  EXPECT_TRUE(response_to("/").starts_with("200 text/html; charset=utf-8: <!doctype html>"))
      << response_to("/").substr(0, 80);
  EXPECT_EQ(response_to("/healthz"), "200" + plain + "ok\n");
  EXPECT_EQ(response_to("/readyz"), "200" + plain + "ok\n");
  EXPECT_EQ(response_to("/none"), "404" + plain + "There is no such page.\n");
  health = "stalled", readiness = "no GPU";
  EXPECT_EQ(response_to("/healthz"), "503" + plain + "stalled\n");
  EXPECT_EQ(response_to("/readyz"), "503" + plain + "no GPU\n");
  readiness = "throw";
  EXPECT_EQ(response_to("/readyz"), "500" + plain + "a\\nbug\n");
}

/// Otherwise silent clients would hold its descriptors until it needs them.
TEST_F(StatusServerOnPortTest, closes_the_connections_of_silent_clients_in_time) {
  const auto before = open_files();
  const auto is_alone_with_its_client = [&] { return open_files() == before + 1; };
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, make_handlers(),
                                           ClientTimeouts{std::chrono::milliseconds(1), kLong});
  {
    Socket silent;
    silent.connect(port_);
    EXPECT_EQ(silent.receive(), "");
    EXPECT_TRUE(test::wait_for(is_alone_with_its_client));
  }
  server_.reset();
  server_ = std::make_unique<StatusServer>(address_, make_handlers(),
                                           ClientTimeouts{kLong, std::chrono::milliseconds(1)});
  Socket stays;
  stays.connect(port_);
  stays.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_TRUE(test::wait_for(is_alone_with_its_client));
}

std::string error_of(const std::function<void()>& step) {
  try {
    step();
  } catch (const FatalError& error) {
    return std::to_string(int(error.code())) + ' ' + error.what();
  }
  return "none";
}

TEST_F(StatusServerOnPortTest, has_clients_that_tell_why_there_is_no_answer) {
  const std::string unavailable = std::to_string(int(ExitCode::unavailable)) + ' ';
  EXPECT_EQ(error_of([&] { http_get(address_, "/none"); }),
            unavailable + address_ + " answers 404 to /none");
  server_.reset();
  EXPECT_EQ(error_of([&] { http_get(address_, "/healthz"); }),
            unavailable + "no eckart process is listening on " + address_);
  const std::string unknown =
      error_of([&] { StatusServer("no.host.invalid.:1", make_handlers()); });
  EXPECT_TRUE(unknown.starts_with(std::to_string(int(ExitCode::cannot_create)) +
                                  " cannot listen on no.host.invalid.:1: "))
      << unknown;
  EXPECT_TRUE(unknown.ends_with(::gai_strerror(EAI_NONAME)) ||
              unknown.ends_with(::gai_strerror(EAI_AGAIN)))
      << unknown;
}

TEST_F(StatusServerOnPortTest, listens_on_an_ipv6_address_in_brackets) {
  const std::string address = "[::1]:" + std::to_string(port_);
  EXPECT_EQ(host_and_port(address).host, "::1");
  EXPECT_EQ(host_and_port(address).port, port_);
  EXPECT_EQ(host_and_port("localhost:9464").host, "localhost");
}

TEST(StatusServerOnSocket, answers_until_it_ends_and_replaces_only_a_dead_socket) {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "status.sock").string();
  const std::string failed = std::to_string(int(ExitCode::cannot_create)) + " cannot listen on ";
  ASSERT_EQ(::mknod(path.c_str(), S_IFSOCK | 0600, 0), 0) << "as a dead process leaves it";
  {
    const StatusServer server(path, make_handlers());
    EXPECT_EQ(http_get(path, "/healthz"), "ok\n")
        << "no browser knows its path, so any host is accepted";
    EXPECT_EQ(error_of([&] { StatusServer(path, make_handlers()); }),
              failed + path + ": another process is listening there");
    EXPECT_EQ(http_get(path, "/healthz"), "ok\n");
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  std::ofstream(path) << "theirs";
  EXPECT_EQ(error_of([&] { StatusServer(path, make_handlers()); }),
            failed + path + ": Address already in use");
  EXPECT_EQ(std::filesystem::file_size(path), 6u);
  const std::string longest = "/" + std::string(107, 'x');  // and a zero
  EXPECT_EQ(error_of([&] { StatusServer(longest, make_handlers()); }),
            failed + longest + ": the path is too long for a socket");
}

}  // namespace
}  // namespace eckart::status_server
