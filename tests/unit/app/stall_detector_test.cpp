#include "app/stall_detector.hpp"

#include <gtest/gtest.h>

#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "tests/unit/app/fake_service.hpp"

namespace eckart::app {
namespace {

/// Finds one stall after another, as the test says.
class StallDetectorTest : public testing::Test {
 protected:
  std::optional<pipeline::Activity::Stall> find() {
    const std::lock_guard lock(mutex_);
    events_.add("checked");
    if (stage_ == "error") throw std::runtime_error("no data");
    if (stage_.empty()) return std::nullopt;
    return pipeline::Activity::Stall{.stage = stage_, .age = std::chrono::seconds(200)};
  }
  /// Waits until the stage was checked, and the result of an earlier check was handled.
  void set(std::string_view stage) {
    {
      const std::lock_guard lock(mutex_);
      stage_ = stage;
    }
    EXPECT_TRUE(events_.wait_for("checked", events_.count("checked") + 3));
  }
  std::ptrdiff_t stalls_of(const std::string& stage) const {
    return events_.count("stall of " + stage);
  }
  std::ptrdiff_t ends_of(const std::string& stage) const {
    return events_.count("end of " + stage);
  }

  std::mutex mutex_;
  std::string_view stage_;
  EventLog events_;
  std::optional<StallDetector> detector_;
};

TEST_F(StallDetectorTest, tells_each_stall_once_and_once_that_it_has_ended) {
  using Stall = pipeline::Activity::Stall;
  detector_.emplace(
      [this] { return find(); },
      StallDetector::Listener{
          [this](const Stall& stall) { events_.add("stall of " + std::string(stall.stage)); },
          [this](const Stall& stall) { events_.add("end of " + std::string(stall.stage)); },
          [this] { events_.add("healthy"); }},
      std::chrono::milliseconds(1));
  EXPECT_TRUE(events_.wait_for("healthy", 3));
  set("load");
  EXPECT_EQ(stalls_of("load"), 1);
  EXPECT_EQ(ends_of("load"), 0);
  const std::ptrdiff_t healthy = events_.count("healthy");
  set("load");
  EXPECT_EQ(stalls_of("load"), 1) << "it is known";
  EXPECT_EQ(events_.count("healthy"), healthy);
  set("write");
  EXPECT_EQ(ends_of("load"), 1);
  EXPECT_EQ(stalls_of("write"), 1);
  set("");
  EXPECT_EQ(ends_of("write"), 1);
  EXPECT_EQ(ends_of("load"), 1);
  EXPECT_GT(events_.count("healthy"), healthy);
  set("error");
  set("load");
  EXPECT_EQ(stalls_of("load"), 2) << "again, and after a check that failed";
}

TEST_F(StallDetectorTest, needs_no_listener_for_the_end) {
  detector_.emplace(
      [this] { return find(); },
      StallDetector::Listener{[this](const auto&) { events_.add("stall of it"); }, {}},
      std::chrono::milliseconds(1));
  set("load");
  set("");
  EXPECT_EQ(stalls_of("it"), 1);
}

}  // namespace
}  // namespace eckart::app
