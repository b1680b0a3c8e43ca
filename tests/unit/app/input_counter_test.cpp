#include "app/input_counter.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>

#include "core/error.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::app {
namespace {

/// Yields three arrivals, then calls a function of the test.
class ThreeArrivalsSource : public io::Source {
 public:
  explicit ThreeArrivalsSource(std::function<void(const std::stop_token&)> then)
      : after_third_(std::move(then)) {}
  std::optional<io::SourceItem> next(const std::stop_token& stop) override {
    if (given_++ < 3) return io::SourceItem{};
    after_third_(stop);
    return std::nullopt;
  }

 private:
  const std::function<void(const std::stop_token&)> after_third_;
  int given_ = 0;
};

TEST(InputCounter, reports_total) {
  const InputCounter count(std::make_unique<ThreeArrivalsSource>([](const std::stop_token&) {}));
  EXPECT_TRUE(test::wait_for([&] { return count.total().has_value(); }));
  EXPECT_EQ(*count.total(), 3);
}

TEST(InputCounter, has_no_total_while_counting_and_stops_on_destruction) {
  std::atomic<bool> waiting = false;
  const InputCounter count(std::make_unique<ThreeArrivalsSource>([&](const std::stop_token& stop) {
    waiting = true;
    EXPECT_TRUE(test::wait_for([&] { return stop.stop_requested(); }));
  }));
  EXPECT_TRUE(test::wait_for([&] { return waiting.load(); }));
  EXPECT_FALSE(count.total());
}

TEST(InputCounter, has_no_total_when_inputs_cannot_be_listed) {
  const InputCounter count(std::make_unique<ThreeArrivalsSource>(
      [](const std::stop_token&) { throw FatalError(ExitCode::no_input, "the list is gone"); }));
  EXPECT_FALSE(count.total());  // and the process continues
}

}  // namespace
}  // namespace eckart::app
