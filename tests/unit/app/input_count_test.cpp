#include "app/input_count.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>

#include "core/error.hpp"

namespace eckart::app {
namespace {

/// Gives three arrivals; then does what it is told.
class ThreeAndThen : public io::Source {
 public:
  explicit ThreeAndThen(std::function<void(const std::stop_token&)> then)
      : then_(std::move(then)) {}
  std::optional<io::Arrival> next(const std::stop_token& stop) override {
    if (given_++ < 3) return io::Arrival{};
    then_(stop);
    return std::nullopt;
  }

 private:
  const std::function<void(const std::stop_token&)> then_;
  int given_ = 0;
};

TEST(InputCount, tells_how_many_there_are) {
  const InputCount count(std::make_unique<ThreeAndThen>([](const std::stop_token&) {}));
  while (!count.total()) std::this_thread::yield();
  EXPECT_EQ(*count.total(), 3);
}

TEST(InputCount, tells_nothing_before_it_is_through_and_ends_when_it_is_not_wanted) {
  std::atomic<bool> waiting = false;
  const InputCount count(std::make_unique<ThreeAndThen>([&](const std::stop_token& stop) {
    waiting = true;
    while (!stop.stop_requested()) std::this_thread::yield();
  }));
  while (!waiting) std::this_thread::yield();
  EXPECT_FALSE(count.total());
}

TEST(InputCount, tells_nothing_when_the_inputs_cannot_be_listed) {
  const InputCount count(std::make_unique<ThreeAndThen>(
      [](const std::stop_token&) { throw FatalError(ExitCode::no_input, "the list is gone"); }));
  EXPECT_FALSE(count.total());  // and the process goes on
}

}  // namespace
}  // namespace eckart::app
