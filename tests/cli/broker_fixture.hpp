#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/broker_connection.hpp"
#include "broker/work_message.hpp"
#include "tests/cli/cli_fixture.hpp"
#include "tests/support/rabbitmq.hpp"

namespace eckart::test {

/// Runs `eckart` with the RabbitMQ of this program. Each test has its own queue.
class BrokerCliTest : public CliTest {
 protected:
  void SetUp() override {
    if (const std::string missing = RabbitMq::missing(); !missing.empty()) GTEST_SKIP() << missing;
    broker_ = &RabbitMq::shared();
    queue_ = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  /// Runs a command with the flags for the broker.
  ProcessResult run_amqp(std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--amqp", broker_->url(), "--queue", queue_});
    return run(arguments);
  }

  broker::ConnectionOptions connection() const {
    return {.address = {.hosts = {{"127.0.0.1", broker_->port()}}},
            .credentials = {"guest", "guest"}};
  }
  broker::QueueDepth depth(const std::string& queue) const {
    return broker::BrokerConnection(connection()).depth(queue).value_or(broker::QueueDepth{-1});
  }

  /// The messages of a queue, which stay there.
  std::vector<broker::Delivery> deliveries(const std::string& queue) const {
    broker::BrokerConnection peek(connection());
    const auto depth = peek.depth(queue);
    std::vector<broker::Delivery> found;
    if (!depth) return found;
    peek.consume(broker::Channel::work, queue, "peek", true);
    while (std::int64_t(found.size()) < depth->ready) {
      const auto event = peek.wait(kWaitDeadline);
      if (!event) break;
      if (const auto* delivery = std::get_if<broker::Delivery>(&*event)) found.push_back(*delivery);
    }
    return found;
  }
  std::vector<broker::WorkMessage> messages() const {
    std::vector<broker::WorkMessage> found;
    for (const broker::Delivery& delivery : deliveries(queue_))
      found.push_back(broker::parse_work_message(delivery.body));
    return found;
  }
  /// The paths of all images in the queue.
  std::multiset<std::string> queued() const {
    std::multiset<std::string> paths;
    for (const broker::WorkMessage& message : messages())
      for (const broker::WorkImage& image : message.images) paths.insert(image.path);
    return paths;
  }

  RabbitMq* broker_ = nullptr;
  std::string queue_;
};

}  // namespace eckart::test
