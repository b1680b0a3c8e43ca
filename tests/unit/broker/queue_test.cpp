// The queues of a real RabbitMQ.
#include <amqp.h>
#include <amqp_tcp_socket.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "broker/dead_letters.hpp"
#include "broker/queue_consumer.hpp"
#include "broker/queue_publisher.hpp"
#include "broker/worker_report.hpp"
#include "core/error.hpp"
#include "tests/support/free_port.hpp"
#include "tests/support/rabbitmq.hpp"
#include "tests/support/tcp_relay.hpp"
#include "tests/support/wait_for.hpp"
#include "tests/support/waiting_thread.hpp"

namespace eckart::broker {
namespace {

using namespace std::chrono_literals;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::SizeIs;

/// As an administrator does: eckart never deletes a queue.
void delete_queue(int port, const std::string& name) {
  const std::unique_ptr<amqp_connection_state_t_, decltype(&amqp_destroy_connection)> state(
      amqp_new_connection(), &amqp_destroy_connection);
  amqp_socket_open(amqp_tcp_socket_new(state.get()), "127.0.0.1", port);
  amqp_login(state.get(), "/", 0, AMQP_DEFAULT_FRAME_SIZE, 0, AMQP_SASL_METHOD_PLAIN, "guest",
             "guest");
  amqp_channel_open(state.get(), 1);
  const auto* deleted = amqp_queue_delete(state.get(), 1, amqp_cstring_bytes(name.c_str()),
                                          /*if_unused=*/0, /*if_empty=*/0);
  ASSERT_NE(deleted, nullptr);
}

class QueueTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const std::string missing = test::RabbitMq::missing(); !missing.empty())
      GTEST_SKIP() << missing;
    broker_ = &test::RabbitMq::shared();
    // Each test has its own queue.
    queue_.name = ::testing::UnitTest::GetInstance()->current_test_info()->name();
  }

  ConnectionOptions connection(int port = 0) const {
    return {.address = {.hosts = {{"127.0.0.1", port != 0 ? port : broker_->port()}}},
            .credentials = {"guest", "guest"},
            .timeout = 30s};
  }
  ConnectionOptions tls_connection() const {
    ConnectionOptions options = connection(broker_->tls_port());
    options.address.uses_tls = true;
    options.address.hosts.front().name = "localhost";
    options.tls = {broker_->ca(), broker_->client_certificate(), broker_->client_key()};
    return options;
  }

  void publish(const std::vector<std::string>& bodies) const {
    QueuePublisher publisher({.connection = connection(), .queue = queue_});
    for (const std::string& body : bodies) publisher.publish(body);
    publisher.flush();
    ASSERT_EQ(publisher.confirmed(), std::int64_t(bodies.size()));
  }

  ConsumerOptions consumer(const std::string& name = "a", int port = 0) const {
    return {.connection = connection(port),
            .queue = queue_,
            .name = name,
            .depth_interval = 50ms,
            .first_wait = 10ms,
            .max_wait = 100ms};
  }

  static std::string take(QueueConsumer& consumer) {
    const std::optional<QueueMessage> message = consumer.next({});
    consumer.ack(message->id);
    return message->body;
  }

  /// The messages of the dead-letter queue, with their headers. They stay there.
  std::vector<Delivery> dead_letters(std::size_t count) const {
    BrokerConnection peek(connection());
    peek.consume(Channel::work, dead_letter_name(queue_.name), "peek", true);
    std::vector<Delivery> found;
    while (found.size() < count) {
      const auto event = peek.wait(test::kWaitDeadline);
      if (!event) break;
      if (const auto* delivery = std::get_if<Delivery>(&*event)) found.push_back(*delivery);
    }
    return found;
  }

  std::int64_t ready() const {
    const auto depth = BrokerConnection(connection()).depth(queue_.name);
    return depth ? depth->ready : -1;
  }

  /// The code and the message of the error of a connection.
  static std::pair<ExitCode, std::string> error_of(const ConnectionOptions& options) {
    try {
      BrokerConnection connects(options);
      return {ExitCode::ok, ""};
    } catch (const AmqpError& error) {
      return {error.code(), error.what()};
    }
  }

  test::RabbitMq* broker_ = nullptr;
  QueueOptions queue_;
};

TEST_F(QueueTest, keeps_messages_for_a_consumer) {
  publish({"one", "two"});
  QueueConsumer worker(consumer());
  EXPECT_EQ(take(worker), "one");
  EXPECT_EQ(take(worker), "two");
  EXPECT_TRUE(test::wait_for([&] { return worker.state().acknowledged == 2; }));
  EXPECT_EQ(worker.state().in_flight, 0);
  worker.end();
  EXPECT_EQ(ready(), 0);
}

TEST_F(QueueTest, has_no_depth_before_it_is_made) {
  BrokerConnection asks(connection());
  EXPECT_EQ(asks.depth(queue_.name), std::nullopt);
  publish({"one", "two", "three"});
  EXPECT_EQ(asks.depth(queue_.name)->ready, 3) << "the connection can still be used";
  EXPECT_EQ(asks.depth(dead_letter_name(queue_.name))->ready, 0);
}

TEST_F(QueueTest, refuses_other_options_than_it_was_made_with) {
  publish({});
  queue_.delivery_limit += 1;
  BrokerConnection other(connection());
  try {
    other.declare(queue_);
    ADD_FAILURE();
  } catch (const AmqpError& error) {
    EXPECT_EQ(error.code(), ExitCode::configuration);
    EXPECT_THAT(error.what(), HasSubstr("x-delivery-limit"));
  }
  QueueConsumer worker(consumer());
  EXPECT_THROW(worker.next({}), AmqpError);
}

TEST_F(QueueTest, tells_whether_it_is_new) {
  EXPECT_TRUE(QueuePublisher({.connection = connection(), .queue = queue_}).is_new_queue());
  EXPECT_FALSE(QueuePublisher({.connection = connection(), .queue = queue_}).is_new_queue());
}

TEST_F(QueueTest, delivers_again_what_was_not_acknowledged) {
  publish({"one"});
  {
    QueueConsumer ends(consumer());
    EXPECT_EQ(ends.next({})->delivery_count, 0);
  }
  QueueConsumer next(consumer());
  EXPECT_EQ(next.next({})->delivery_count, 1);
}

TEST_F(QueueTest, moves_a_message_to_the_dead_letters_after_its_limit) {
  queue_.delivery_limit = 2;
  publish({"poison", "good"});
  for (int delivery = 0; delivery <= queue_.delivery_limit; ++delivery) {
    QueueConsumer ends(consumer());
    EXPECT_EQ(ends.next({})->body, "poison");
  }
  QueueConsumer next(consumer());
  EXPECT_EQ(take(next), "good");
  EXPECT_THAT(dead_letters(1), ElementsAre(::testing::Field(&Delivery::body, "poison")));
  std::vector<DeadLetter> letters;
  ASSERT_TRUE(test::wait_for([&] {  // the broker has it back a moment later
    letters = read_dead_letters(connection(), queue_.name, 10);
    return letters.size() == 1;
  }));
  EXPECT_THAT(letters[0].reason, HasSubstr("delivered too often"));
}

TEST_F(QueueTest, has_the_reason_beside_a_rejected_message) {
  publish({"bad", "good"});
  QueueConsumer worker(consumer());
  worker.reject(*worker.next({}), "not a message");
  EXPECT_EQ(take(worker), "good");
  EXPECT_TRUE(test::wait_for([&] { return worker.state().rejected == 1; }));
  worker.end();
  const std::vector<Delivery> dead = dead_letters(1);
  ASSERT_THAT(dead, SizeIs(1));
  EXPECT_EQ(dead[0].body, "bad");
  EXPECT_THAT(dead[0].headers, Contains(Pair("eckart-reason", "not a message")));
  EXPECT_EQ(ready(), 0);
}

TEST_F(QueueTest, sends_what_was_rejected_before_the_end) {
  publish({"bad"});
  {
    QueueConsumer worker(consumer());
    worker.reject(*worker.next({}), "not a message");
  }
  EXPECT_EQ(ready(), 0);
  EXPECT_THAT(dead_letters(1), SizeIs(1));
}

TEST_F(QueueTest, gives_no_more_messages_than_the_prefetch) {
  publish({"1", "2", "3", "4", "5"});
  QueueConsumer worker(consumer());
  worker.set_prefetch(3);
  EXPECT_EQ(take(worker), "1");
  ASSERT_TRUE(test::wait_for([&] { return worker.state().acknowledged == 1; }));
  ASSERT_TRUE(test::wait_for([&] {
    const ConsumerState state = worker.state();
    return state.in_flight == 3 && state.queue && state.queue->ready == 1;
  }));
}

/// With the message that killed a worker, the others that it had come again.
TEST_F(QueueTest, gives_a_message_alone_that_was_delivered_before) {
  publish({"1", "2", "3"});
  {
    QueueConsumer ends(consumer());
    ends.set_prefetch(3);
    ASSERT_TRUE(test::wait_for([&] { return ends.state().in_flight == 3; }));
  }
  publish({"4", "5"});
  QueueConsumer next(consumer());
  next.set_prefetch(5);
  for (int i = 0; i < 3; ++i) {
    const std::optional<QueueMessage> message = next.next({});
    EXPECT_EQ(message->delivery_count, 1);
    EXPECT_EQ(next.state().in_flight, 1) << "the others can be delivered to other workers";
    next.ack(message->id);
  }
  EXPECT_EQ(next.next({})->delivery_count, 0);
  EXPECT_EQ(next.next({})->delivery_count, 0) << "new messages are not alone";
}

TEST_F(QueueTest, finishes_its_messages_before_one_that_was_delivered_before) {
  publish({"old", "1"});
  auto ends = std::make_unique<QueueConsumer>(consumer("ends"));
  EXPECT_EQ(ends->next({})->body, "old");
  QueueConsumer next(consumer());
  next.set_prefetch(3);
  std::vector<DeliveryId> taken{next.next({})->id};
  publish({"2"});
  taken.push_back(next.next({})->id);
  ends.reset();
  ASSERT_TRUE(test::wait_for([&] { return next.state().in_flight == 3; }));
  publish({"3"});
  std::optional<QueueMessage> old;
  test::WaitingThread waits([&] { old = next.next({}); });
  ASSERT_TRUE(waits.wait_until_asleep());
  for (const DeliveryId& id : taken) next.ack(id);
  waits.join();
  EXPECT_EQ(old->body, "old");
  EXPECT_TRUE(test::wait_for([&] { return next.state().in_flight == 1; }))
      << "no other was taken after it came";
  next.ack(old->id);
  EXPECT_EQ(take(next), "3");
}

/// Otherwise it would wait as long as there are new ones.
TEST_F(QueueTest, takes_no_new_messages_while_one_that_was_delivered_before_waits) {
  publish({"old", "0"});
  auto ends = std::make_unique<QueueConsumer>(consumer("ends"));
  EXPECT_EQ(ends->next({})->body, "old");
  QueueConsumer next(consumer());
  const std::optional<QueueMessage> first = next.next({});
  EXPECT_EQ(first->body, "0");
  publish({"1", "2", "3"});
  ends.reset();
  ASSERT_TRUE(test::wait_for([&] { return ready() == 4; }));
  next.set_prefetch(4);
  ASSERT_TRUE(test::wait_for([&] { return next.state().in_flight == 4; }));
  next.ack(first->id);
  ASSERT_TRUE(test::wait_for([&] { return next.state().acknowledged == 1; }));
  EXPECT_EQ(ready(), 1);
  EXPECT_THAT((std::set{take(next), take(next)}), ElementsAre("1", "2"));
  EXPECT_EQ(take(next), "old");
  EXPECT_EQ(take(next), "3");
}

TEST_F(QueueTest, drops_acks_of_a_lost_connection) {
  test::TcpRelay network(broker_->port());
  publish({"one"});
  QueueConsumer worker(consumer("a", network.port()));
  const std::optional<QueueMessage> before = worker.next({});
  EXPECT_TRUE(worker.is_current(before->id));
  network.cut();
  ASSERT_TRUE(test::wait_for([&] { return worker.state().reconnects == 1; }));
  EXPECT_FALSE(worker.is_current(before->id));
  worker.ack(before->id);  // its tag is that of the same message in the new channel
  ASSERT_TRUE(test::wait_for([&] { return worker.state().dropped_acks == 1; }));
  const std::optional<QueueMessage> after = worker.next({});
  EXPECT_EQ(after->body, "one");
  EXPECT_EQ(after->delivery_count, 1);
  EXPECT_EQ(worker.state().acknowledged, 0);
  worker.ack(after->id);
  ASSERT_TRUE(test::wait_for([&] { return worker.state().acknowledged == 1; }));
  EXPECT_TRUE(worker.state().is_connected);
}

TEST_F(QueueTest, connects_again_until_the_broker_answers) {
  test::TcpRelay network(broker_->port());
  network.refuse(true);
  QueueConsumer worker(consumer("a", network.port()));
  ASSERT_TRUE(test::wait_for([&] { return !worker.state().error.empty(); }));
  EXPECT_FALSE(worker.state().is_connected);
  network.refuse(false);
  publish({"one"});
  EXPECT_EQ(take(worker), "one");
  EXPECT_EQ(worker.state().error, "");
  EXPECT_EQ(worker.state().reconnects, 0);
}

TEST_F(QueueTest, publishes_again_what_was_not_confirmed) {
  test::TcpRelay network(broker_->port());
  QueuePublisher publisher(
      {.connection = connection(network.port()), .queue = queue_, .window = 8});
  std::set<std::string> expected;
  for (int i = 0; i < 100; ++i) {
    if (i % 30 == 20) network.cut();
    expected.insert(std::to_string(i));
    publisher.publish(std::to_string(i));
  }
  publisher.flush();
  EXPECT_EQ(publisher.confirmed(), 100);
  EXPECT_GE(publisher.reconnects(), 1);
  QueueConsumer worker(consumer());
  worker.set_prefetch(100);
  std::set<std::string> found;
  while (found.size() < expected.size()) found.insert(take(worker));
  EXPECT_EQ(found, expected);
}

TEST_F(QueueTest, stays_connected_while_a_message_is_processed) {
  constexpr std::int64_t kHeartbeatBytes = 8;
  test::TcpRelay network(broker_->port());
  publish({"one"});
  ConsumerOptions options = consumer("a", network.port());
  options.connection.heartbeat = 1s;
  options.depth_interval = 1h;
  QueueConsumer worker(options);
  const std::optional<QueueMessage> message = worker.next({});
  const std::int64_t before = network.client_bytes();
  // Without heartbeats, the broker closes the connection after two intervals.
  ASSERT_TRUE(
      test::wait_for([&] { return network.client_bytes() >= before + 6 * kHeartbeatBytes; }));
  EXPECT_TRUE(worker.is_current(message->id));
  EXPECT_EQ(network.connections(), 1);
}

TEST_F(QueueTest, ends_a_wait_at_a_stop_request) {
  QueueConsumer worker(consumer());
  std::stop_source stop;
  std::jthread stops([&] { stop.request_stop(); });
  EXPECT_EQ(worker.next(stop.get_token()), std::nullopt);
}

TEST_F(QueueTest, tells_what_its_workers_have) {
  publish({"1", "2", "3"});
  EXPECT_THAT(ask_workers(connection(), queue_.name, 100ms), SizeIs(0));
  QueueConsumer first(consumer("first"));
  ASSERT_TRUE(test::wait_for([&] { return first.state().in_flight == 1; }));
  QueueConsumer second(consumer("second"));
  ASSERT_TRUE(test::wait_for([&] { return second.state().in_flight == 1; }));
  EXPECT_EQ(take(second), "2");
  ASSERT_TRUE(test::wait_for([&] { return second.state().acknowledged == 1; }));
  ASSERT_TRUE(test::wait_for([&] { return second.state().in_flight == 1; }));
  std::vector<std::pair<std::string, std::int64_t>> found;
  for (const WorkerReport& report : ask_workers(connection(), queue_.name, test::kWaitDeadline))
    found.emplace_back(report.name, report.in_flight);
  EXPECT_THAT(found, ElementsAre(Pair("first", 1), Pair("second", 1)));
}

TEST_F(QueueTest, refuses_users_and_virtual_hosts) {
  ConnectionOptions wrong_user = connection();
  wrong_user.credentials.password = "secret";
  const auto [code, message] = error_of(wrong_user);
  EXPECT_EQ(code, ExitCode::no_permission);
  EXPECT_THAT(message, HasSubstr("ACCESS_REFUSED"));
  EXPECT_THAT(message, ::testing::Not(HasSubstr("secret")));
  ConnectionOptions wrong_vhost = connection();
  wrong_vhost.address.vhost = "none";
  EXPECT_EQ(error_of(wrong_vhost).first, ExitCode::configuration);
}

TEST_F(QueueTest, is_unavailable_without_a_broker) {
  const test::FreePort unused;
  EXPECT_EQ(error_of(connection(unused.number())).first, ExitCode::unavailable);
}

TEST_F(QueueTest, is_reached_through_any_host) {
  const test::FreePort unused;
  ConnectionOptions options = connection(unused.number());
  options.address.hosts.push_back({"127.0.0.1", broker_->port()});
  for (int i = 0; i < 8; ++i) {  // the first host is chosen at random
    const BrokerConnection connects(options);
    EXPECT_EQ(connects.address(), broker_->url() + "/");
  }
}

TEST_F(QueueTest, names_each_host_that_does_not_answer) {
  const test::FreePort a, b;
  ConnectionOptions options = connection(a.number());
  options.address.hosts.push_back({"127.0.0.1", b.number()});
  const auto [code, message] = error_of(options);
  EXPECT_EQ(code, ExitCode::unavailable);
  for (const test::FreePort* port : {&a, &b})
    EXPECT_THAT(message, HasSubstr("cannot connect to amqp://127.0.0.1:" +
                                   std::to_string(port->number()) + "/: connection refused"));
}

TEST_F(QueueTest, is_refused_only_if_all_hosts_refuse_it) {
  ConnectionOptions options = connection();
  options.credentials.password = "wrong";
  options.address.hosts.push_back({"localhost", broker_->port()});
  EXPECT_EQ(error_of(options).first, ExitCode::no_permission);
  const test::FreePort unused;
  options.address.hosts.front().port = unused.number();
  EXPECT_EQ(error_of(options).first, ExitCode::unavailable) << "the other one may accept it";
}

TEST_F(QueueTest, changes_its_prefetch_without_another_delivery) {
  constexpr int kMessages = 400;
  publish(std::vector<std::string>(kMessages, "work"));
  QueueConsumer worker(consumer());
  for (int i = 0; i < kMessages; ++i) {
    if (i % 40 == 0) worker.set_prefetch(2 + i / 10);
    const std::optional<QueueMessage> message = worker.next({});
    EXPECT_EQ(message->delivery_count, 0) << i;
    worker.ack(message->id);
  }
}

TEST_F(QueueTest, makes_a_deleted_dead_letter_queue_again) {
  publish({"one"});
  QueueConsumer worker(consumer());
  const std::optional<QueueMessage> first = worker.next({});
  delete_queue(broker_->port(), dead_letter_name(queue_.name));
  worker.reject(*first, "of no use");
  const std::optional<QueueMessage> again = worker.next({});  // through another connection
  EXPECT_EQ(again->body, "one");
  worker.reject(*again, "of no use");
  worker.end();
  EXPECT_THAT(dead_letters(1), SizeIs(1));
}

TEST_F(QueueTest, is_reached_over_tls) {
  if (!broker_->has_tls()) GTEST_SKIP() << "needs /usr/bin/openssl";
  EXPECT_EQ(error_of(tls_connection()), std::pair(ExitCode::ok, std::string()));
  ConnectionOptions untrusted = tls_connection();
  untrusted.tls.ca = broker_->other_ca();
  EXPECT_EQ(error_of(untrusted).first, ExitCode::configuration);
  ConnectionOptions other_name = tls_connection();
  other_name.address.hosts.front().name = "127.0.0.1";
  EXPECT_EQ(error_of(other_name).first, ExitCode::configuration);
  ConnectionOptions without_certificate = tls_connection();
  without_certificate.tls.certificate.clear();
  EXPECT_NE(error_of(without_certificate).first, ExitCode::ok);
  ConnectionOptions missing_ca = tls_connection();
  missing_ca.tls.ca = "/none";
  EXPECT_EQ(error_of(missing_ca).first, ExitCode::configuration);
}

}  // namespace
}  // namespace eckart::broker
