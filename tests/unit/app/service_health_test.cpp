// What is done beside a service's work, by fakes: watchdog, stalls, maintenance, GPU probes.
#include "app/service_health.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "core/error.hpp"
#include "tests/unit/app/fake_service.hpp"

namespace eckart::app {
namespace {

using std::chrono::milliseconds;

class ServiceHealthTest : public testing::Test {
 protected:
  static constexpr HealthIntervals kShort{
      .stall_check = milliseconds(1), .maintenance = milliseconds(1), .gpu_probe = milliseconds(1)};

  void start() {
    health_.emplace(
        service_, manager_, [this](const std::string& why) { events_.add("on_stall: " + why); },
        kShort);
  }
  /// Until it was asked for a stall so often from now on, and has acted on the answers but the
  /// last.
  void wait_for_stall_checks(int checks) {
    EXPECT_TRUE(events_.wait_for("a: find_stall", events_.count("a: find_stall") + checks));
  }
  /// What execute() would throw.
  std::optional<ExitCode> error_code() const {
    try {
      if (service_.error()) std::rethrow_exception(service_.error());
    } catch (const FatalError& error) {
      return error.code();
    }
    return std::nullopt;
  }

  EventLog events_;
  FakeServiceManager manager_{events_};
  FakeService service_{"a", events_, FakeService::run_until_stop};
  std::optional<ServiceHealth> health_;
};

TEST_F(ServiceHealthTest, feeds_the_watchdog_and_tells_the_status_while_nothing_is_stalled) {
  start();
  EXPECT_TRUE(events_.wait_for("manager: watchdog", 3));
  EXPECT_GE(events_.count("manager: status a is well"), 3);
  EXPECT_EQ(error_code(), std::nullopt);
}

TEST_F(ServiceHealthTest, stalled_service_does_not_feed_the_watchdog) {
  service_.set_stall(kLoadStall);
  start();
  wait_for_stall_checks(5);
  EXPECT_EQ(events_.count("manager: watchdog"), 0);
}

TEST_F(ServiceHealthTest,
       service_that_has_stalled_feeds_the_watchdog_no_more_even_if_the_stall_ends) {
  service_.set_stall(kLoadStall);
  start();
  service_.wait_for_stop();
  service_.set_stall(std::nullopt);
  wait_for_stall_checks(5);
  EXPECT_EQ(events_.count("manager: watchdog"), 0);
  EXPECT_EQ(events_.count("manager: status a is well"), 0);
}

TEST_F(ServiceHealthTest, stall_stops_the_service_with_a_temporary_error_and_is_recorded) {
  service_.set_stall(kLoadStall);
  start();
  service_.wait_for_stop();
  EXPECT_EQ(error_code(), ExitCode::temporary);
  EXPECT_TRUE(events_.wait_for("a: records stall of load"));
  const std::string why = "load has been running for 200 s, longer than its limit";
  EXPECT_EQ(events_.count("on_stall: " + why), 1);
  EXPECT_EQ(events_.count("manager: status stalled: " + why), 1);
}

TEST_F(ServiceHealthTest, maintains_folders_until_it_ends) {
  start();
  EXPECT_TRUE(events_.wait_for("a: maintenance", 3));
  health_.reset();
  EXPECT_EQ(error_code(), std::nullopt);
}

TEST_F(ServiceHealthTest, failed_maintenance_stops_the_service_with_its_error) {
  service_.fails_maintenance_ = true;
  start();
  service_.wait_for_stop();
  EXPECT_EQ(error_code(), ExitCode::io_error);
}

}  // namespace
}  // namespace eckart::app
