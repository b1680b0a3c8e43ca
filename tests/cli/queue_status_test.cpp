// Tests `eckart status --amqp` with a real RabbitMQ.
#include <nlohmann/json.hpp>

#include "broker/queue_consumer.hpp"
#include "tests/cli/broker_fixture.hpp"

namespace eckart::test {
namespace {

class QueueStatusTest : public BrokerCliTest {
 protected:
  /// A worker that takes messages and does not process them.
  broker::ConsumerOptions consumer() const {
    return {.connection = connection(), .queue = {.name = queue_}, .name = "w1"};
  }
};

TEST_F(QueueStatusTest, shows_messages_workers_and_dead_letters) {
  for (const char* name : {"in/a.png", "in/b.png", "in/c.png", "in/d.png"}) write_png(name);
  ASSERT_EQ(run_amqp({"enqueue", "in", "--images-per-message", "1"}).code, 0);
  broker::QueueConsumer worker(consumer());
  worker.reject(*worker.next({}), "made with other settings");
  wait_for([&] { return worker.state().rejected == 1 && worker.state().in_flight == 1; });
  const ProcessResult text = run_amqp({"status"});
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_EQ(text.out, "queue " + queue_ +
                          ": 2 messages waiting, 1 in flight at 1 worker, 1 dead letter\n"
                          "worker w1: 1 message in flight\n"
                          "dead letter: made with other settings (" +
                          at("in/a.png").native() + ")\n");
  const auto has_dead_letter = [&] { return depth(queue_ + ".dead").ready == 1; };
  EXPECT_TRUE(test::wait_for(has_dead_letter)) << "status takes none away";
  const nlohmann::json json = nlohmann::json::parse(run_amqp({"status", "--json"}).out);
  EXPECT_EQ(json.at("kind"), "queue");
  EXPECT_EQ(json.at("waiting"), 2);
  EXPECT_EQ(json.at("in_flight"), 1);
  EXPECT_EQ(json.at("dead_letters"), 1);
  EXPECT_EQ(json.at("dead_letter_list").at(0).at("reason"), "made with other settings");
}

TEST_F(QueueStatusTest, shows_the_output_folder_too) {
  write_png("in/a.png");
  ASSERT_EQ(run_amqp({"enqueue", "in"}).code, 0);
  const ProcessResult before = run_amqp({"status", "out"});
  EXPECT_EQ(before.code, 0) << before.err;
  EXPECT_THAT(before.out, HasSubstr("out: workers have published no results yet;"));
  ASSERT_EQ(run({"run", "in", "-o", "out"}).code, 0);
  const ProcessResult result = run_amqp({"status", "out"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 message waiting, 0 in flight at 0 workers"));
  EXPECT_THAT(result.out, HasSubstr("1 done, 0 failed"));
}

TEST_F(QueueStatusTest, has_no_input_if_there_is_no_queue) {
  const ProcessResult result = run_amqp({"status"});
  EXPECT_EQ(result.code, int(ExitCode::no_input));
  EXPECT_THAT(result.err, HasSubstr("there is no queue " + queue_));
}

}  // namespace
}  // namespace eckart::test
