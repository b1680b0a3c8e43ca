// Tests a signal during a run: items in flight are finished, and no output is incomplete. Tests
// SIGUSR1, which logs the status of a service.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

class SignalTest : public CliTest {
 protected:
  static constexpr int kImages = 120;
  static constexpr int kSide = kIsSanitized ? 200 : 500;

  void SetUp() override {
    ASSERT_EQ(run({"synth", "-o", "in", "--kind", "gradient", "--size", std::to_string(kSide),
                   "--count", std::to_string(kImages)})
                  .code,
              0);
  }

  /// Starts a run and waits for its first output. `budget_mb` limits how far loading gets ahead.
  std::unique_ptr<EckartProcess> start(int budget_mb, const std::string& fault = {}) {
    auto program = std::make_unique<EckartProcess>(
        std::vector<std::string>{"run", "in", "-o", "out", "--json", "--set", "cpu.lanes=1",
                                 "--set", "budget_mb=" + std::to_string(budget_mb)},
        EckartProcess::Options{.folder = at("."), .fault = fault});
    wait_for([&] { return !published().empty(); });
    return program;
  }

  /// Returns the files in `out`, without temporary files.
  Names published() const {
    Names names = files("out");
    std::erase_if(names, [](const std::string& name) { return name.starts_with(".eckart-"); });
    return names;
  }

  void expect_clean_end(int signal, int code) {
    const auto program = start(4);
    program->signal(signal);
    const ProcessResult result = program->wait();
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_THAT(result.err, HasSubstr("stopping"));
    EXPECT_THAT(result.err, HasSubstr("INTERRUPTED"));
    const Names outputs = files("out");
    EXPECT_EQ(nlohmann::json::parse(result.out).at("done"), outputs.size());
    EXPECT_LT(outputs.size(), std::size_t(kImages));
    expect_whole(outputs);
  }

  void expect_whole(const Names& outputs) {
    EXPECT_GE(outputs.size(), 1u);
    for (const std::string& name : outputs) {
      EXPECT_NO_THROW(EXPECT_EQ(decode("out/" + name).shape().rows, kSide)) << name;
    }
  }
};

TEST_F(SignalTest, ends_the_run_with_129_after_a_clean_drain_if_hup) {
  expect_clean_end(SIGHUP, 129);
}
TEST_F(SignalTest, ends_the_run_with_130_after_a_clean_drain_if_int) {
  expect_clean_end(SIGINT, 130);
}
TEST_F(SignalTest, ends_the_run_with_143_after_a_clean_drain_if_term) {
  expect_clean_end(SIGTERM, 143);
}

/// As timeout(1) sends them: to its child, and then to its process group.
TEST_F(SignalTest, counts_as_one_request_with_a_second_at_once) {
  const auto program = start(4);
  program->signal(SIGTERM);
  program->signal(SIGINT);  // two equal signals may arrive as one
  const ProcessResult result = program->wait();
  EXPECT_THAT(result.code, AnyOf(143, 130)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("INTERRUPTED"));
  expect_whole(files("out"));
}

TEST_F(SignalTest, ends_the_wait_for_list_input) {
  ASSERT_EQ(mkfifo(at("list").c_str(), 0600), 0);
  const int writer = open(at("list").c_str(), O_RDWR | O_CLOEXEC);  // keeps the pipe open
  const std::string side = std::to_string(kSide),
                    name = "in/gradient_" + side + "x" + side + "_0001.png";
  const std::string line = name + "\n";
  ASSERT_EQ(::write(writer, line.data(), line.size()), ssize_t(line.size()));
  EckartProcess program({"run", "--files-from", "list", "-o", "out"}, {at("."), {}, false});
  wait_for([&] { return fs::exists(at("out/" + name)); });
  program.signal(SIGINT);
  EXPECT_EQ(program.wait().code, 130);
  close(writer);
}

TEST_F(SignalTest, ends_the_run_at_once_if_repeated_and_leaves_no_partial_file) {
  const auto program = start(2048, "rename:-2:2:1");  // so that the shutdown hangs
  program->signal(SIGINT);
  wait_for([&] { return program->err().find("stopping") != std::string::npos; });
  wait_for([&] {  // shortly after the first, it counts as the same request
    program->signal(SIGINT);
    return program->has_ended();
  });
  const ProcessResult result = program->wait();
  EXPECT_EQ(result.code, 130) << result.err;
  EXPECT_EQ(result.out, "") << "the drain was not cut short";
  const Names outputs = published();
  EXPECT_LT(outputs.size(), std::size_t(kImages));
  expect_whole(outputs);
}

TEST_F(SignalTest, leaves_the_rest_to_the_next_run) {
  for (const int signal : {SIGTERM, SIGKILL}) {
    fs::remove_all(at("out"));
    const auto program = start(4);
    program->signal(signal);
    program->wait();
    const ProcessResult rest = run({"run", "in", "-o", "out", "-q", "--json"});
    EXPECT_EQ(rest.code, 0);
    const auto json = nlohmann::json::parse(rest.out);
    EXPECT_GE(json.at("skipped"), signal == SIGTERM ? 1 : 0);
    EXPECT_EQ(json.at("done").get<int>() + json.at("skipped").get<int>(), kImages);
    EXPECT_EQ(files("out").size(), std::size_t(kImages)) << "and no temporaries";
    expect_whole(files("out"));
  }
}

using StatusSignalTest = WatchTest;

TEST_F(StatusSignalTest, logs_the_status) {
  configure();
  start();
  write_png("in/a.png");
  wait_for_outputs(1);
  service_->signal(SIGUSR1);
  wait_for_log("rate      ");
  write_png("in/b.png");
  wait_for_outputs(2);
  const ProcessResult result = stop();
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("stage    threads"), HasSubstr("queues     found")));
}

TEST_F(SignalTest, logs_the_status_while_stopping) {
  const auto program = start(2048, "rename:-2:2:1");  // so that the shutdown hangs
  program->signal(SIGTERM);
  wait_for([&] { return program->err().find("stopping") != std::string::npos; });
  wait_for([&] {
    program->signal(SIGUSR1);
    return program->err().find("rate      ") != std::string::npos;
  });
}

/// As after a GPU loss, when a process replaces itself.
TEST_F(StatusSignalTest, works_when_inherited_as_ignored) {
  configure();
  EckartProcess::Options options;
  options.folder = at(".");
  options.program = "/bin/sh";
  const std::string begin = "trap '' USR1; exec " ECKART_PROGRAM " watch --config eckart.yaml";
  service_ = std::make_unique<EckartProcess>(std::vector<std::string>{"-c", begin}, options);
  wait_for_log("ready:");
  service_->signal(SIGUSR1);
  wait_for_log("rate      ");
  EXPECT_EQ(stop().code, 0);
}

}  // namespace
}  // namespace eckart::test
