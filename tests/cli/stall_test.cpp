// Tests a service with a system call or matrix product that never returns. The service detects,
// names and reports the stall, and exits to be restarted. No item is lost.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "status_server/status_server.hpp"
#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using status_server::http_get;

/// Receives the messages of a service to systemd.
class FakeServiceManager {
 public:
  explicit FakeServiceManager(const std::string& path)
      : socket_(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~FakeServiceManager() { ::close(socket_); }
  FakeServiceManager(const FakeServiceManager&) = delete;
  FakeServiceManager& operator=(const FakeServiceManager&) = delete;

  /// Returns the messages since the last call.
  std::string received() {
    std::string all(4096, 0), text;
    for (ssize_t got = 0; (got = ::recv(socket_, all.data(), all.size(), 0)) > 0;)
      text.append(all, 0, std::size_t(got)).append("\n");
    return text;
  }

 private:
  const int socket_;
};

struct StallCase {
  const char* stage;
  const char* fault;
};

class StallTest : public WatchTest {
 protected:
  static constexpr const char* kTimeouts = "timeouts: {stall_s: 2, shutdown_s: 4}\n";
  std::string socket() const { return at("status.sock").string(); }
  void configure_watch() {
    configure("limits: {decode_s: 1}",
              std::string("rank: 2\nlimits: {decode_s: 1}\n") + kTimeouts + "cpu: {lanes: 2}\n" +
                  "threads: {load: 2, write: 2}\ntelemetry: {listen: " + socket() + "}\n");
  }
  void start_stalling(const std::string& fault) {
    start({.fault = fault + ":-2:1:1",
           .environment = {{"NOTIFY_SOCKET", at("notify").string()}, {"WATCHDOG_USEC", "300000"}}});
  }
};

class StalledServiceTest : public StallTest, public ::testing::WithParamInterface<StallCase> {};

TEST_P(StalledServiceTest, is_unhealthy_and_restarts_without_loss) {
  FakeServiceManager manager(at("notify").string());
  configure_watch();
  write_png("in/stuck/stuck.png");
  start_stalling(GetParam().fault);
  wait_for_log("longer than its limit");
  const std::string stalled = line_containing(service_->err(), "longer than its limit");
  EXPECT_THAT(stalled, HasSubstr(std::string(GetParam().stage) + " has been running on " +
                                 at("in").string()));
  EXPECT_THAT(manager.received(), HasSubstr("WATCHDOG=1")) << "before";

  try {
    http_get(socket(), "/healthz");
    ADD_FAILURE() << "it is healthy";
  } catch (const FatalError& error) {
    EXPECT_THAT(error.what(), HasSubstr("answers 503"));
  }
  EXPECT_THROW(http_get(socket(), "/readyz"), FatalError);
  EXPECT_THAT(http_get(socket(), "/status.txt"),
              HasSubstr(std::string("NOT READY ") + GetParam().stage + " has been running"));
  EXPECT_EQ(service_->wait().code, 75);
  EXPECT_THAT(manager.received(), Not(HasSubstr("WATCHDOG=1"))) << "since then";

  start();
  write_png("in/another.png");
  wait_for_outputs(2);
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(files("in"), ElementsAre("another.png", "stuck/stuck.png"));
}

TEST_P(StalledServiceTest, ends_within_shutdown_timeout) {
  configure("limits: {decode_s: 1}",
            "rank: 2\ntimeouts: {shutdown_s: 2}\ncpu: {lanes: 2}\nthreads: {load: 2, write: 2}\n");
  write_png("in/stuck/stuck.png");
  start({.fault = std::string(GetParam().fault) + ":-2:1:1",
         .environment = {{"ECKART_FAULT_REACHED", at("reached").string()}}});
  wait_until([&] { return fs::exists(at("reached")); });
  wait_for_log("ready:");
  const ProcessResult result = stop();
  EXPECT_EQ(result.code, 143);
  EXPECT_THAT(result.err, HasSubstr("forced exit after 2 s while waiting for "));
}

const StallCase kStallCases[] = {
    {"source", "list"}, {"load", "input"}, {"compute", "compute"}, {"write", "fsync"}};
std::string stall_case_name(const ::testing::TestParamInfo<StallCase>& info) {
  return info.param.stage;
}
INSTANTIATE_TEST_SUITE_P(Stage, StalledServiceTest, ::testing::ValuesIn(kStallCases),
                         stall_case_name);

TEST_F(StallTest, delays_its_input_after_the_second_time) {
  configure_watch();
  write_png("in/stuck.png");
  for (int times = 0; times < 2; ++times) {
    start({.fault = "input:-2:1:1"});
    EXPECT_EQ(service_->wait().code, 75);
  }
  write_png("in/another.png");
  start({.fault = "input:-2:1:1"});
  wait_for_outputs(1);
  wait_for_log("stuck.png: the service stalled on this input before; next attempt in 10 min");
  EXPECT_EQ(stop().code, 0);
  write("in/stuck.png", encoded("png", 20, 10));  // replaced by another file
  start();
  wait_for_outputs(2);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(StallTest, makes_a_run_unhealthy_and_not_ready) {
  write_png("in/stuck.png");
  EckartProcess program({"run", "in", "-o", "out", "--backend", "cpu", "--set",
                         "timeouts.stall_s=1", "--set", "timeouts.shutdown_s=1", "--set",
                         "limits.decode_s=1", "--set", "telemetry.listen=" + socket()},
                        {.folder = at("."), .fault = "input:-2:1:1"});
  wait_for([&] { return program.err().find("longer than its limit") != std::string::npos; });
  EXPECT_THROW(http_get(socket(), "/healthz"), FatalError);
  EXPECT_THROW(http_get(socket(), "/readyz"), FatalError);
  program.signal(SIGTERM);
  EXPECT_EQ(program.wait().code, 143);
}

TEST_F(StallTest, is_reported_in_a_run_that_ends_within_shutdown_timeout) {
  write_png("in/stuck.png");
  write_png("in/b.png");
  EckartProcess program(
      {"run", "in", "-o", "out", "--backend", "cpu", "--set", "timeouts.stall_s=1", "--set",
       "timeouts.shutdown_s=1", "--set", "limits.decode_s=1"},
      {.folder = at("."), .fault = "input:-2:1:1"});
  wait_for([&] {
    return program.err().find("load has been running on in/stuck.png") != std::string::npos;
  });
  EXPECT_THAT(program.err(), HasSubstr("load has been running on in/stuck.png"));
  program.signal(SIGTERM);
  const ProcessResult result = program.wait();
  EXPECT_EQ(result.code, 143);
  EXPECT_THAT(result.err,
              HasSubstr("forced exit after 1 s while waiting for load of in/stuck.png"));
  EXPECT_THAT(files("out"), ElementsAre("b.png")) << "is published all the same";
}

}  // namespace
}  // namespace eckart::test
