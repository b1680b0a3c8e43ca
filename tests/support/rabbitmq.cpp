#include "tests/support/rabbitmq.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "tests/support/wait_for.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;

// Not /usr/sbin/rabbitmq-server, which changes the user.
constexpr const char* kServer = "/usr/lib/rabbitmq/bin/rabbitmq-server";
constexpr const char* kEpmd = "/usr/bin/epmd";
constexpr const char* kOpenSsl = "/usr/bin/openssl";

bool accepts_connections(int port) {
  const int client = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(std::uint16_t(port));
  const bool is_connected =
      ::connect(client, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(client);
  return is_connected;
}

void end(pid_t& process) {
  if (process <= 0) return;
  ::kill(process, SIGKILL);
  ::waitpid(process, nullptr, 0);
  process = 0;
}

std::vector<char*> pointers(const std::vector<std::string>& words) {
  std::vector<char*> result;
  result.reserve(words.size() + 1);
  for (const std::string& word : words) result.push_back(const_cast<char*>(word.c_str()));
  result.push_back(nullptr);
  return result;
}

}  // namespace

std::string RabbitMq::missing() {
  for (const char* program : {kServer, kEpmd}) {
    if (::access(program, X_OK) != 0)
      return std::string(program) + " is not installed: Debian package rabbitmq-server";
  }
  return "";
}

RabbitMq& RabbitMq::shared() {
  static RabbitMq broker;
  return broker;
}

RabbitMq::RabbitMq() {
  epmd_port_.emplace();
  make_certificates();
  write_configuration();
  constexpr int kMaxAttempts = 10;
  for (int attempt = 1; !start_epmd(); ++attempt) {
    if (attempt == kMaxAttempts)
      throw std::runtime_error("epmd does not start: " + log("epmd.log"));
    epmd_port_.emplace();
  }
  start();
}

/// It also listens on the loopback address of IPv6, where another process may have its port. Then
/// it ends.
bool RabbitMq::start_epmd() {
  epmd_ = run({kEpmd, "-port", std::to_string(epmd_port_->number())}, "epmd.log");
  bool has_ended = false;
  static_cast<void>(wait_for([&] {
    has_ended = ::waitpid(epmd_, nullptr, WNOHANG) == epmd_;
    return has_ended || accepts_connections(epmd_port_->number());
  }));
  if (has_ended) epmd_ = 0;
  if (!has_ended && accepts_connections(epmd_port_->number())) return true;
  end(epmd_);
  return false;
}

RabbitMq::~RabbitMq() {
  end(server_);
  end(epmd_);
}

void RabbitMq::kill() { end(server_); }

void RabbitMq::start() {
  server_ = run({kServer}, "server.log");
  int status = 0;
  const bool is_ready = wait_for([&] {
    if (::waitpid(server_, &status, WNOHANG) == server_)
      throw std::runtime_error("rabbitmq-server ended: " + log("server.log"));
    return accepts_connections(has_tls() ? tls_port() : port());
  });
  if (!is_ready) throw std::runtime_error("rabbitmq-server does not start: " + log("server.log"));
}

std::string RabbitMq::log(const char* name) const {
  std::ifstream file(folder_.path() / name);
  return {std::istreambuf_iterator<char>(file), {}};
}

fs::path RabbitMq::ca() const {
  const fs::path file = folder_.path() / "ca.pem";
  return fs::exists(client_certificate()) ? file : fs::path();
}

std::vector<std::string> RabbitMq::environment() const {
  const std::string folder = folder_.path().native();
  const auto number = [](const FreePort& port) { return std::to_string(port.number()); };
  return {"PATH=/usr/sbin:/usr/bin:/sbin:/bin",
          "HOME=" + folder,
          "ERL_EPMD_PORT=" + number(*epmd_port_),
          "ERL_EPMD_ADDRESS=127.0.0.1",
          "RABBITMQ_NODENAME=eckart-" + number(port_) + "@localhost",
          "RABBITMQ_NODE_IP_ADDRESS=127.0.0.1",
          "RABBITMQ_NODE_PORT=" + number(port_),
          "RABBITMQ_DIST_PORT=" + number(distribution_port_),
          "RABBITMQ_MNESIA_BASE=" + folder + "/data",
          "RABBITMQ_LOG_BASE=" + folder + "/log",
          "RABBITMQ_CONF_ENV_FILE=/dev/null",
          "RABBITMQ_CONFIG_FILE=" + folder + "/rabbitmq",
          "RABBITMQ_ENABLED_PLUGINS_FILE=" + folder + "/plugins",
          "RABBITMQ_ALLOW_INPUT=1",  // the shell becomes the server, so that its process is known
          "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS=-start_epmd false -noinput +S 2:2"};
}

void RabbitMq::write_configuration() const {
  std::ofstream(folder_.path() / "plugins") << "[].\n";
  std::ofstream file(folder_.path() / "rabbitmq.conf");
  file << "default_user_tags.administrator = true\n";
  if (!has_tls()) return;
  const std::string folder = folder_.path().native();
  file << "listeners.ssl.1 = 127.0.0.1:" << tls_port() << "\nssl_options.cacertfile = " << folder
       << "/ca.pem\nssl_options.certfile = " << folder
       << "/server.pem\nssl_options.keyfile = " << folder
       << "/server.key\nssl_options.verify = verify_peer\n"
          "ssl_options.fail_if_no_peer_cert = true\n";
}

/// Makes none without openssl.
void RabbitMq::make_certificates() const {
  if (::access(kOpenSsl, X_OK) != 0) return;
  const auto openssl = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), kOpenSsl);
    ::waitpid(run(arguments, "openssl.log"), nullptr, 0);
  };
  const auto path = [&](const std::string& name) { return (folder_.path() / name).native(); };
  for (const std::string name : {"ca", "other"})
    openssl({"req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj",
             "/CN=" + name + " of a test", "-keyout", path(name + ".key"), "-out",
             path(name + ".pem")});
  std::ofstream(path("san")) << "subjectAltName = DNS:localhost\n";
  for (const std::string name : {"server", "client"}) {
    openssl({"req", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=" + name, "-keyout",
             path(name + ".key"), "-out", path(name + ".csr")});
    openssl({"x509", "-req", "-in", path(name + ".csr"), "-CA", path("ca.pem"), "-CAkey",
             path("ca.key"), "-CAcreateserial", "-days", "2", "-extfile", path("san"), "-out",
             path(name + ".pem")});
  }
}

pid_t RabbitMq::run(const std::vector<std::string>& command, const char* log) const {
  const std::vector<std::string> variables = environment();
  const std::vector<char*> arguments = pointers(command), environ = pointers(variables);
  const fs::path file = folder_.path() / log;
  const pid_t parent = ::getpid(), process = ::fork();
  if (process < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (process > 0) return process;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);
  ::setpgid(0, 0);  // Ctrl-C goes to the test
  const int none = ::open("/dev/null", O_RDONLY);
  const int out = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  ::dup2(none, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execve(arguments[0], arguments.data(), environ.data());
  ::_exit(127);
}

}  // namespace eckart::test
