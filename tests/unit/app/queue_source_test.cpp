// The images of a queue of a real RabbitMQ.
#include "app/queue_source.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <string>

#include "broker/queue_publisher.hpp"
#include "broker/work_message.hpp"
#include "tests/support/rabbitmq.hpp"
#include "tests/support/wait_for.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::app {
namespace {

using namespace std::chrono_literals;
using Ending = QueueSource::Ending;

constexpr const char* kSettings = "0123456789abcdef";

class QueueSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::RabbitMq::missing(); !missing.empty())
      GTEST_SKIP() << missing;
    connection_ = {.address = {.hosts = {{"127.0.0.1", test::RabbitMq::shared().port()}}},
                   .credentials = {"guest", "guest"},
                   .timeout = 30s};
    queue_.name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  QueueSourceOptions options() const {
    return {.consumer = {.connection = connection_,
                         .queue = queue_,
                         .name = "a",
                         .first_wait = 10ms,
                         .max_wait = 100ms},
            .settings_hash = kSettings,
            .max_images = 64};
  }

  /// Publishes messages with one image each.
  void publish(int count) const {
    broker::QueuePublisher publisher({.connection = connection_, .queue = queue_});
    for (int i = 0; i < count; ++i) {
      const std::string name = std::to_string(i) + ".png";
      publisher.publish(broker::to_json({kSettings, {{"/in/" + name, name, {}}}}));
    }
    publisher.flush();
  }

  /// Waits until the queue has so many messages that no worker has.
  bool wait_until_ready(std::int64_t messages) const {
    broker::BrokerConnection connection(connection_);
    return test::wait_for([&] {
      connection.wait(0ms);  // for heartbeats
      const auto depth = connection.depth(queue_.name);
      return depth && depth->ready == messages;
    });
  }

  broker::ConnectionOptions connection_;
  broker::QueueOptions queue_;
};

TEST_F(QueueSourceTest, gives_messages_back_during_a_long_environment_error) {
  std::atomic<bool> has_space = false;
  std::atomic<int> checks = 0;
  QueueSourceOptions options = this->options();
  options.max_hold = 50ms;
  options.check_interval = 10ms;
  options.has_recovered = [&] { return ++checks, has_space.load(); };
  QueueSource source(options);
  publish(3);
  source.finish(source.next({})->relative, Ending::retried, "the disk is full");
  std::optional<io::SourceItem> item;
  test::WaitingThread reader([&] { item = source.next({}); });
  EXPECT_TRUE(wait_until_ready(3));
  EXPECT_TRUE(test::wait_for([&] { return source.consumer_state().in_flight == 0; }));
  EXPECT_EQ(source.pause_reason(), "the disk is full");
  EXPECT_TRUE(test::wait_for([&] { return checks >= 2; }));
  EXPECT_FALSE(item);

  has_space = true;
  reader.join();
  EXPECT_EQ(source.pause_reason(), "");
  source.finish(item->relative, Ending::finished, "");
  for (int i = 1; i < 3; ++i) source.finish(source.next({})->relative, Ending::finished, "");
  source.end();
  EXPECT_TRUE(wait_until_ready(0));
  EXPECT_EQ(source.consumer_state().acknowledged, 3);
}

TEST_F(QueueSourceTest, keeps_messages_during_a_short_environment_error) {
  QueueSourceOptions options = this->options();
  options.has_recovered = [] { return false; };
  QueueSource source(options);
  publish(1);
  source.finish(source.next({})->relative, Ending::retried, "the disk is full");
  source.finish(source.next({})->relative, Ending::finished, "");  // after a pause
  source.end();
  EXPECT_EQ(source.consumer_state().acknowledged, 1);
  EXPECT_EQ(source.consumer_state().reconnects, 0);
}

TEST_F(QueueSourceTest, holds_a_message_that_was_delivered_nearly_too_often) {
  queue_.delivery_limit = 2;
  publish(1);
  for (const bool is_first : {true, false}) {
    QueueSourceOptions options = this->options();
    options.max_hold = 0ms;
    QueueSource source(options);
    const auto item = source.next({});
    if (is_first) continue;  // the next delivery is the second
    source.finish(item->relative, Ending::retried, "the disk is full");
    source.finish(source.next({})->relative, Ending::finished, "");  // it was not given back
    source.end();
    EXPECT_EQ(source.consumer_state().reconnects, 0);
    EXPECT_EQ(source.consumer_state().acknowledged, 1);
  }
}

TEST_F(QueueSourceTest, rejects_a_message_whose_image_stays_unavailable) {
  QueueSourceOptions options = this->options();
  options.first_pause = 1ms;
  QueueSource source(options);
  publish(1);
  constexpr int kAttempts = 6;
  for (int i = 0; i < kAttempts; ++i)
    source.finish(source.next({})->relative, Ending::unavailable, "the folder is not mounted");
  EXPECT_TRUE(test::wait_for([&] { return source.consumer_state().rejected == 1; }));
  EXPECT_EQ(source.consumer_state().acknowledged, 0);
}

TEST_F(QueueSourceTest, takes_more_messages_ahead_when_they_are_quickly_finished) {
  QueueSourceOptions options = this->options();
  options.max_images = 300;
  QueueSource source(options);
  publish(1000);
  for (int i = 0; i < 600; ++i) source.finish(source.next({})->relative, Ending::finished, "");
  EXPECT_TRUE(test::wait_for([&] { return source.consumer_state().in_flight == 300; }));
}

}  // namespace
}  // namespace eckart::app
