// Services that run one after another, with fakes: the effects of a reload, a failure, a stall and
// a stop.
#include "app/supervisor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <latch>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "tests/unit/app/fake_service.hpp"

namespace eckart::app {
namespace {

constexpr std::chrono::seconds kDeadline{10};

void fail_before_ready(FakeService&, const std::function<void()>&) {
  throw FatalError(ExitCode::unavailable, "no GPU");
}

void fail_when_ready(FakeService&, const std::function<void()>& ready) {
  ready();
  throw FatalError(ExitCode::io_error, "the disk is broken");
}

/// The name of a service is output.name of its configuration.
class SupervisorTest : public testing::Test {
 protected:
  static settings::Configuration configuration(const std::string& name) {
    settings::Configuration configuration;
    configuration.settings.output.name = name;
    configuration.settings.timeouts.shutdown_s = configuration.settings.timeouts.stall_s = 0;
    return configuration;
  }
  std::unique_ptr<FakeService> make_service(const std::string& name, double last_done_unix_s) {
    events_.add(name + ": is being made");
    last_done_unix_s_[name] = last_done_unix_s;
    if (before_making_.contains(name)) before_making_[name]();
    const auto execute = execute_.find(name);
    auto service = std::make_unique<FakeService>(
        name, events_, execute == execute_.end() ? FakeService::run_until_stop : execute->second);
    service->last_done_unix_s_ = last_done_unix_s + 1;
    return service;
  }

  void start(const std::string& name) {
    supervisor_.emplace(
        configuration(name),
        Supervisor::Parts{
            .read_configuration = [this] { return read_configuration_(); },
            .make_service =
                [this](const settings::Configuration& made, double last_done_unix_s) {
                  return make_service(made.settings.output.name, last_done_unix_s);
                },
            .print_status = [this](const std::string& lines) { events_.add(lines); },
            .manager = manager_,
            .exit_process =
                [this](ExitCode code) { events_.add("exit " + std::to_string(int(code))); },
            .intervals = {.stall_check = std::chrono::milliseconds(1)},
            .min_start_timeout = min_start_timeout_});
    run_ = std::async(std::launch::async, [this] { supervisor_->run(); });
  }
  void start_and_wait(const std::string& name) {
    start(name);
    ASSERT_TRUE(events_.wait_for("manager: ready"));
  }
  void reload(const std::string& name) {
    read_configuration_ = [=] { return configuration(name); };
    supervisor_->reload();
  }
  /// Returns the exit code of the process.
  ExitCode wait_for_end() {
    if (run_.wait_for(kDeadline) != std::future_status::ready) {
      ADD_FAILURE() << "it does not end";
      supervisor_->stop();
    }
    try {
      run_.get();
      return ExitCode::ok;
    } catch (const FatalError& error) {
      return error.code();
    } catch (const EnvironmentError&) {
      return ExitCode::io_error;
    }
  }
  ExitCode stop() {
    supervisor_->stop();
    return wait_for_end();
  }
  /// Returns whether `call` returns although other threads are blocked.
  bool returns(const std::function<void()>& call) {
    calls_.push_back(std::async(std::launch::async, call));
    return calls_.back().wait_for(kDeadline) == std::future_status::ready;
  }
  /// Stops while the service `name` is being made, which waits for `made`: the stop does not.
  void stop_while_it_is_made(const std::string& name, std::latch& made) {
    EXPECT_TRUE(events_.wait_for(name + ": is being made"));
    EXPECT_TRUE(returns([&] { supervisor_->stop(); }));
    made.count_down();
    EXPECT_EQ(wait_for_end(), ExitCode::ok);
  }
  std::ptrdiff_t index_of(const std::string& event) const {
    const std::vector<std::string> all = events_.all();
    return std::find(all.begin(), all.end(), event) - all.begin();
  }
  void TearDown() override {
    if (supervisor_ && run_.valid()) stop();
  }

  EventLog events_;
  FakeServiceManager manager_{events_};
  std::function<settings::Configuration()> read_configuration_;
  std::map<std::string, FakeService::Execute> execute_;
  std::map<std::string, std::function<void()>> before_making_;
  std::map<std::string, double> last_done_unix_s_;
  std::chrono::milliseconds min_start_timeout_ = std::chrono::minutes(1);
  std::optional<Supervisor> supervisor_;
  std::vector<std::future<void>> calls_;
  std::future<void> run_;
};

TEST_F(SupervisorTest, runs_a_service_until_it_is_stopped) {
  start_and_wait("a");
  EXPECT_EQ(supervisor_->pending_work(), "activity of a");
  EXPECT_EQ(stop(), ExitCode::ok);
  EXPECT_EQ(events_.count("a: destroyed"), 1);
  EXPECT_EQ(events_.count("manager: ready"), 1);
  EXPECT_LT(index_of("manager: stopping"), index_of("a: is stopped"));
}

/// A folder that does not respond may delay the creation of a service, but not a stop.
TEST_F(SupervisorTest, stops_without_waiting_for_a_service_that_is_being_created) {
  std::latch made(1);
  before_making_["a"] = [&] { made.wait(); };
  start("a");
  stop_while_it_is_made("a", made);
  EXPECT_EQ(events_.count("a: is stopped"), 1);
}

TEST_F(SupervisorTest, stops_without_waiting_for_a_reload) {
  std::latch made(1);
  before_making_["b"] = [&] { made.wait(); };
  start_and_wait("a");
  reload("b");
  stop_while_it_is_made("b", made);
  EXPECT_EQ(events_.count("a: made"), 1);
}

TEST_F(SupervisorTest, starts_no_other_service_after_a_stop_during_a_failing_reload) {
  std::latch made(1);
  before_making_["b"] = [&] {
    made.wait();
    throw FatalError(ExitCode::configuration, "the folders overlap");
  };
  start_and_wait("a");
  reload("b");
  stop_while_it_is_made("b", made);
  EXPECT_EQ(events_.count("a: is being made"), 1);
}

TEST_F(SupervisorTest, runs_the_new_service_after_a_reload_while_creating_the_first) {
  std::latch made(1);
  before_making_["a"] = [&] { made.wait(); };
  start("a");
  EXPECT_TRUE(events_.wait_for("a: is being made"));
  EXPECT_TRUE(returns([&] { reload("b"); }));
  made.count_down();
  EXPECT_TRUE(events_.wait_for("b: executes"));
  EXPECT_EQ(stop(), ExitCode::ok);
}

/// The service that is being made is ready only later.
TEST_F(SupervisorTest, reports_ready_only_after_creation_despite_a_failed_reload) {
  std::latch made(1);
  before_making_["a"] = [&] { made.wait(); };
  read_configuration_ = []() -> settings::Configuration {
    throw settings::SettingsError("eckart.yaml:1: watches: expected a list");
  };
  start("a");
  EXPECT_TRUE(events_.wait_for("a: is being made"));
  supervisor_->reload();
  EXPECT_EQ(events_.count("manager: ready"), 0);
  made.count_down();
  EXPECT_TRUE(events_.wait_for("manager: ready"));
}

TEST_F(SupervisorTest, starts_the_new_service_on_reload_after_the_old_one_has_ended) {
  start_and_wait("a");
  reload("b");
  EXPECT_TRUE(events_.wait_for("manager: ready", 2));
  EXPECT_EQ(events_.count("b: executes"), 1);
  EXPECT_LT(index_of("manager: reloading"), index_of("a: is stopped"));
  EXPECT_LT(index_of("a: destroyed"), index_of("b: is being made")) << "its folders are free";
  EXPECT_EQ(last_done_unix_s_["b"], 1) << "that of a";
  EXPECT_EQ(stop(), ExitCode::ok);
}

TEST_F(SupervisorTest, keeps_the_service_on_reload_of_an_invalid_configuration) {
  start_and_wait("a");
  read_configuration_ = []() -> settings::Configuration {
    throw settings::SettingsError("eckart.yaml:1: watches: expected a list");
  };
  supervisor_->reload();
  EXPECT_EQ(events_.count("manager: ready"), 2) << "after `reloading`";
  EXPECT_EQ(events_.count("a: is stopped"), 0);
  EXPECT_EQ(stop(), ExitCode::ok);
  EXPECT_EQ(events_.count("a: made"), 1);
}

TEST_F(SupervisorTest, restores_the_previous_service_if_the_new_fails_before_ready) {
  execute_["b"] = fail_before_ready;
  start_and_wait("a");
  reload("b");
  EXPECT_TRUE(events_.wait_for("manager: ready", 2));
  EXPECT_EQ(events_.count("b: executes"), 1);
  EXPECT_EQ(events_.count("a: executes"), 2);
  EXPECT_EQ(stop(), ExitCode::ok);
}

TEST_F(SupervisorTest, restores_the_previous_service_if_the_new_cannot_be_created) {
  before_making_["b"] = [] { throw FatalError(ExitCode::configuration, "the folders overlap"); };
  start_and_wait("a");
  reload("b");
  EXPECT_TRUE(events_.wait_for("manager: ready", 2));
  EXPECT_EQ(events_.count("a: executes"), 2);
  EXPECT_EQ(stop(), ExitCode::ok);
}

TEST_F(SupervisorTest, ends_when_the_previous_configuration_fails_too) {
  start_and_wait("a");
  execute_["a"] = execute_["b"] = fail_before_ready;
  reload("b");
  EXPECT_EQ(wait_for_end(), ExitCode::unavailable);
  EXPECT_EQ(events_.count("a: made"), 2);
}

TEST_F(SupervisorTest, ends_with_the_error_of_a_failed_first_service) {
  execute_["a"] = fail_before_ready;
  start("a");
  EXPECT_EQ(wait_for_end(), ExitCode::unavailable);
  EXPECT_EQ(events_.count("a: destroyed"), 1);
}

TEST_F(SupervisorTest, ends_with_the_error_of_a_service_that_fails_after_ready) {
  execute_["b"] = fail_when_ready;
  start_and_wait("a");
  reload("b");
  EXPECT_EQ(wait_for_end(), ExitCode::io_error);
  EXPECT_EQ(events_.count("a: made"), 1) << "no fallback";
  EXPECT_EQ(events_.count("b: destroyed"), 1);
}

TEST_F(SupervisorTest, does_not_fall_back_after_device_loss) {
  execute_["b"] = [](FakeService&, const std::function<void()>&) {
    throw DeviceLostError("CUDA error 719");
  };
  start_and_wait("a");
  reload("b");
  EXPECT_EQ(wait_for_end(), ExitCode::temporary);
  EXPECT_EQ(events_.count("a: made"), 1);
}

TEST_F(SupervisorTest, ends_with_an_environment_error_if_one_stopped_the_service) {
  execute_["a"] = [](FakeService& service, const std::function<void()>& ready) {
    ready();
    service.report_.stopped_by = "too many open files";
  };
  start("a");
  EXPECT_EQ(wait_for_end(), ExitCode::io_error);
}

TEST_F(SupervisorTest, starts_no_other_service_after_a_stop_during_a_reload) {
  std::latch drained(1);
  execute_["a"] = [&](FakeService& service, const std::function<void()>& ready) {
    FakeService::run_until_stop(service, ready);
    drained.wait();
  };
  start_and_wait("a");
  reload("b");
  EXPECT_TRUE(events_.wait_for("a: is stopped"));
  supervisor_->stop();
  drained.count_down();
  EXPECT_EQ(wait_for_end(), ExitCode::ok);
  EXPECT_EQ(events_.count("b: is being made"), 0);
}

TEST_F(SupervisorTest, ignores_a_reload_after_a_stop) {
  std::latch drained(1);
  execute_["a"] = [&](FakeService& service, const std::function<void()>& ready) {
    FakeService::run_until_stop(service, ready);
    drained.wait();
  };
  start_and_wait("a");
  supervisor_->stop();
  reload("b");
  drained.count_down();
  EXPECT_EQ(wait_for_end(), ExitCode::ok);
  EXPECT_EQ(events_.count("b: is being made"), 0);
}

TEST_F(SupervisorTest, prints_status_at_once) {
  start_and_wait("a");
  supervisor_->request_status();
  EXPECT_EQ(events_.count("status of a"), 1);
}

TEST_F(SupervisorTest, prints_status_later_if_requested_before_the_first_service) {
  std::latch made(1);
  before_making_["a"] = [&] { made.wait(); };
  start("a");
  EXPECT_TRUE(events_.wait_for("a: is being made"));
  EXPECT_TRUE(returns([&] { supervisor_->request_status(); }));
  EXPECT_EQ(events_.count("status of a"), 0);
  made.count_down();
  EXPECT_TRUE(events_.wait_for("status of a"));
  EXPECT_EQ(stop(), ExitCode::ok);
  EXPECT_EQ(events_.count("status of a"), 1);
}

TEST_F(SupervisorTest, prints_status_of_the_new_service_if_requested_during_a_reload) {
  std::latch made(1);
  before_making_["b"] = [&] { made.wait(); };
  start_and_wait("a");
  reload("b");
  EXPECT_TRUE(events_.wait_for("b: is being made"));
  EXPECT_EQ(supervisor_->pending_work(), "");
  EXPECT_TRUE(returns([&] { supervisor_->request_status(); }));
  made.count_down();
  EXPECT_TRUE(events_.wait_for("status of b"));
}

TEST_F(SupervisorTest, ends_after_a_stall_to_be_restarted) {
  execute_["a"] = [](FakeService& service, const std::function<void()>& ready) {
    ready();
    service.set_stall(kLoadStall);
    service.wait_for_stop();
  };
  start("a");
  EXPECT_EQ(wait_for_end(), ExitCode::temporary);
}

/// The exit deadline is already running and would also end the previous service.
TEST_F(SupervisorTest, does_not_fall_back_after_a_stall_before_ready) {
  execute_["b"] = [](FakeService& service, const std::function<void()>&) {
    service.set_stall(kLoadStall);
    service.wait_for_stop();
  };
  start_and_wait("a");
  reload("b");
  EXPECT_EQ(wait_for_end(), ExitCode::temporary);
  EXPECT_EQ(events_.count("a: made"), 1);
}

/// The threads of the service ended before they could receive the error of the stall.
TEST_F(SupervisorTest, ends_after_a_stall_during_a_reload_to_be_restarted) {
  execute_["a"] = [this](FakeService& service, const std::function<void()>& ready) {
    FakeService::run_until_stop(service, ready);
    service.set_stall(kLoadStall);
    EXPECT_TRUE(events_.wait_for("a: records stall of load"));
    EXPECT_TRUE(events_.wait_for("a: is stopped", 2));
    service.stop_with_error(nullptr);
  };
  start_and_wait("a");
  reload("b");
  EXPECT_EQ(wait_for_end(), ExitCode::temporary);
  EXPECT_EQ(events_.count("b: made"), 0);
}

/// The cause is not known: folders that do not respond, or much work.
TEST_F(SupervisorTest, exits_if_a_service_does_not_start_in_time_and_says_what_took_so_long) {
  using namespace std::chrono_literals;
  std::ostringstream log;
  const std::shared_ptr<spdlog::logger> previous = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("", std::make_shared<spdlog::sinks::ostream_sink_mt>(log)));
  std::latch made(1);
  before_making_["a"] = [&] { made.wait(); };
  min_start_timeout_ = 20ms;
  start("a");
  EXPECT_TRUE(events_.wait_for("exit 75"));
  made.count_down();
  stop();
  spdlog::set_default_logger(previous);
  EXPECT_THAT(log.str(), testing::HasSubstr("starting the watches has taken 0.02 s"));
  EXPECT_THAT(log.str(), testing::Not(testing::HasSubstr("do not respond")));
}

TEST_F(SupervisorTest, exits_at_the_deadline_if_a_stalled_service_does_not_end) {
  std::latch ended(1);
  execute_["a"] = [&](FakeService& service, const std::function<void()>& ready) {
    ready();
    service.set_stall(kLoadStall);
    ended.wait();
  };
  start("a");
  EXPECT_TRUE(events_.wait_for("exit 75"));
  ended.count_down();
  EXPECT_EQ(wait_for_end(), ExitCode::temporary);
}

}  // namespace
}  // namespace eckart::app
