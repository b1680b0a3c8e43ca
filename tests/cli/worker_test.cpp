// Tests `eckart worker` with a real RabbitMQ.
#include <signal.h>

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <regex>
#include <sstream>

#include "broker/dead_letters.hpp"
#include "broker/queue_consumer.hpp"
#include "broker/queue_publisher.hpp"
#include "broker/worker_report.hpp"
#include "status_server/status_server.hpp"
#include "tests/cli/broker_fixture.hpp"
#include "tests/support/tcp_relay.hpp"

namespace eckart::test {
namespace {

constexpr int kNoFault = 1000000;

class WorkerTest : public BrokerCliTest {
 protected:
  void SetUp() override {
    BrokerCliTest::SetUp();
    for (const char* name : {"in/a.png", "in/b.png", "in/deep/c.png", "in/deep/d.png"})
      write_png(name);
  }

  void enqueue(const std::vector<std::string>& more = {"--images-per-message", "1"},
               const std::string& rank = "2") {
    std::vector<std::string> arguments{"enqueue", "in", "-k", rank};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const ProcessResult result = run_amqp(arguments);
    ASSERT_EQ(result.code, 0) << result.err;
  }

  std::unique_ptr<EckartProcess> start(EckartProcess::Options options = {}, int port = 0,
                                       const std::vector<std::string>& more = {}) {
    options.folder = at(".");
    const std::string url =
        "amqp://127.0.0.1:" + std::to_string(port != 0 ? port : broker_->port());
    std::vector<std::string> arguments{"worker", "--amqp",  url,     "--queue", queue_,
                                       "-o",     "out",     "-k",    "2",       "--backend",
                                       "cpu",    "--state", "state", "-v"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return std::make_unique<EckartProcess>(arguments, options);
  }
  /// Without temporary files: those of killed workers stay, because they may be of another machine.
  Names outputs() const {
    Names names = files("out");
    std::erase_if(names, [](const std::string& name) {
      return fs::path(name).filename().native().starts_with(".eckart-");
    });
    return names;
  }
  void wait_until(const EckartProcess& worker, const std::function<bool()>& event) {
    ASSERT_TRUE(test::wait_for(event)) << worker.err();
  }
  void wait_for_log(const EckartProcess& worker, const std::string& text) {
    wait_until(worker, [&] { return worker.err().find(text) != std::string::npos; });
  }
  /// Waits until no message waits or is in flight.
  ProcessResult finish(EckartProcess& worker, std::size_t outputs) {
    wait_for_log(worker, "ready: queue");
    wait_until(worker, [&] { return files("out").size() >= outputs; });
    wait_until(worker, [&] { return depth(queue_).ready == 0 && in_flight() == 0; });
    worker.signal(SIGTERM);
    return worker.wait();
  }
  std::int64_t in_flight() const {
    std::int64_t sum = 0;
    for (const auto& worker : broker::ask_workers(connection(), queue_, std::chrono::seconds(2)))
      sum += worker.in_flight;
    return sum;
  }
  void expect_outputs_of_a_run() {
    ASSERT_EQ(run({"run", "in", "-o", "whole", "-k", "2", "--backend", "cpu"}).code, 0);
    EXPECT_EQ(files("out"), files("whole"));
    for (const std::string& name : files("whole"))
      EXPECT_EQ(io::read_file(at("out") / name, 1), io::read_file(at("whole") / name, 1)) << name;
  }
  nlohmann::json status() { return nlohmann::json::parse(run({"status", "out", "--json"}).out); }
  std::vector<broker::DeadLetter> dead_letters() const {
    return broker::read_dead_letters(connection(), queue_, 100);
  }
  /// Dead letters that were looked at are back in their queue a moment later.
  std::vector<broker::DeadLetter> wait_for_dead_letters(std::size_t count) const {
    std::vector<broker::DeadLetter> letters;
    EXPECT_TRUE(test::wait_for([&] {
      letters = dead_letters();
      return letters.size() == count;
    }));
    letters.resize(count);
    return letters;
  }
  void publish(const std::string& body) const {
    broker::QueuePublisher publisher({.connection = connection(), .queue = {.name = queue_}});
    publisher.publish(body);
    publisher.flush();
  }
};

TEST_F(WorkerTest, has_the_outputs_of_a_run) {
  enqueue();
  const auto worker = start();
  const ProcessResult result = finish(*worker, 4);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.err, HasSubstr("ready: queue " + queue_));
  EXPECT_THAT(result.err, HasSubstr("stopped: 4 done, 0 failed"));
  expect_outputs_of_a_run();
  EXPECT_EQ(status().at("done"), 4) << "the ledger is published";
  EXPECT_EQ(status().at("manifests"), nlohmann::json::array());
  EXPECT_EQ(depth(queue_).ready, 0) << "all messages were acknowledged";
}

TEST_F(WorkerTest, takes_what_comes_later) {
  const auto worker = start();
  wait_for_log(*worker, "ready: queue");
  enqueue();
  EXPECT_EQ(finish(*worker, 4).code, 0);
  EXPECT_EQ(depth(queue_).ready, 0);
}

TEST_F(WorkerTest, makes_each_output_once) {
  enqueue();
  EXPECT_EQ(finish(*start(), 4).code, 0);
  const auto time = fs::last_write_time(at("out/a.png"));
  enqueue();
  const auto worker = start();
  const ProcessResult result = finish(*worker, 4);
  EXPECT_THAT(result.err, HasSubstr("stopped: 0 done, 0 failed"));
  EXPECT_EQ(fs::last_write_time(at("out/a.png")), time);
  EXPECT_EQ(depth(queue_).ready, 0);
}

TEST_F(WorkerTest, skips_an_image_that_comes_again) {
  enqueue();
  const auto worker = start();
  wait_until(*worker, [&] { return files("out").size() == 4; });
  const auto time = fs::last_write_time(at("out/a.png"));
  enqueue();
  const ProcessResult result = finish(*worker, 4);
  EXPECT_THAT(result.err, HasSubstr("stopped: 4 done, 0 failed"));
  EXPECT_EQ(fs::last_write_time(at("out/a.png")), time);
}

TEST_F(WorkerTest, publishes_what_killed_workers_recorded) {
  for (int i = 0; i < 20; ++i) write_png("in/more/" + std::to_string(i) + ".png");
  const auto first = start(), second = start();
  wait_for_log(*first, "connected to");
  wait_for_log(*second, "connected to");
  enqueue();
  wait_until(*first, [&] { return files("out").size() == 24 && in_flight() == 0; });
  for (EckartProcess* worker : {first.get(), second.get()}) {
    worker->signal(SIGKILL);
    worker->wait();
  }
  EXPECT_EQ(run({"status", "out"}).code, int(ExitCode::no_input)) << "nothing is published yet";
  const auto next = start();
  wait_for_log(*next, "ready: queue");
  EXPECT_EQ(status().at("done"), 24) << "of both ledgers";
  next->signal(SIGTERM);
  EXPECT_EQ(next->wait().code, 0);
}

TEST_F(WorkerTest, acknowledges_an_image_that_is_corrupt) {
  write("in/bad.png", "no image");
  enqueue();
  const auto worker = start();
  wait_for_log(*worker, "bad.png");
  EXPECT_EQ(finish(*worker, 4).code, 0);
  EXPECT_EQ(depth(queue_).ready, 0);
  EXPECT_TRUE(dead_letters().empty());
  const nlohmann::json recorded = status();
  EXPECT_EQ(recorded.at("done"), 4);
  EXPECT_EQ(recorded.at("failed"), 1);
  EXPECT_EQ(recorded.at("failed_inputs").at(0).at("reason"), "not an image");
}

TEST_F(WorkerTest, rejects_messages_for_other_settings) {
  enqueue({"--images-per-message", "1"}, "3");
  const auto worker = start();
  wait_until(*worker, [&] { return dead_letters().size() == 4; });
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().code, 0);
  EXPECT_THAT(wait_for_dead_letters(4)[0].reason, HasSubstr("it is for other settings: hash "));
  EXPECT_THAT(files("out"), IsEmpty());
}

/// A worker with wrong options must not dead-letter the whole queue.
TEST_F(WorkerTest, ends_if_the_first_messages_are_for_other_settings) {
  for (const char* rank : {"3", "4", "5"}) enqueue({"--images-per-message", "1"}, rank);
  const ProcessResult result = start()->wait();
  EXPECT_EQ(result.code, int(ExitCode::configuration)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("the first 8 messages are for other settings"));
  wait_for_dead_letters(8);
  EXPECT_EQ(depth(queue_).ready, 4);
}

TEST_F(WorkerTest, rejects_what_is_no_message) {
  publish("{\"hello\":1}");
  enqueue();
  const auto worker = start();
  EXPECT_EQ(finish(*worker, 4).code, 0);
  EXPECT_EQ(wait_for_dead_letters(1)[0].reason, "not a message of eckart enqueue");
}

TEST_F(WorkerTest, finishes_what_a_killed_worker_had) {
  fs::copy_file(at("in/a.png"), at("in/stuck.png"));
  enqueue();
  const auto killed =
      start({.fault = "input:-2:1:" + std::to_string(kNoFault)});  // waits for stuck.png
  wait_until(*killed, [&] { return files("out").size() == 4; });
  killed->signal(SIGKILL);
  killed->wait();
  EXPECT_EQ(finish(*start(), 5).code, 0);
  expect_outputs_of_a_run();
  EXPECT_EQ(status().at("done"), 5) << "the ledger of the killed worker was kept";
  EXPECT_EQ(depth(queue_).ready, 0);
}

TEST_F(WorkerTest, processes_the_images_of_an_archive) {
  ASSERT_EQ(run({"pack", "in", "-o", "in.tar"}).code, 0);
  ASSERT_EQ(run_amqp({"enqueue", "in.tar", "-k", "2"}).code, 0);
  EXPECT_EQ(finish(*start(), 4).code, 0);
  EXPECT_THAT(files("out"), ElementsAre("a.png", "b.png", "deep/c.png", "deep/d.png"));
}

TEST_F(WorkerTest, refuses_what_it_cannot_promise) {
  const ProcessResult result =
      run_amqp({"worker", "-o", "out", "--state", "state", "--set", "durability=none"});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err, HasSubstr("durability none"));
}

TEST_F(WorkerTest, prints_no_password_of_a_misplaced_url) {
  const ProcessResult result = run({"worker", "amqp://user:secret@host/x"});
  EXPECT_EQ(result.code, int(ExitCode::usage));
  EXPECT_THAT(result.err, AllOf(HasSubstr("amqp://...@host/x"), Not(HasSubstr("secret"))));
}

/// Others may have seen what it published, but did not record.
TEST_F(WorkerTest, replaces_no_output_of_a_killed_worker) {
  for (std::size_t published = 1; published <= 4; ++published) {
    enqueue({"--images-per-message", "4"});
    const auto killed = start({.fault = "published:0:" + std::to_string(published) + ":1"}, 0,
                              {"--set", "threads.write=1"});
    EXPECT_EQ(killed->wait().code, -SIGKILL);
    ASSERT_EQ(outputs().size(), published);
    std::map<std::string, fs::file_time_type> times;
    for (const std::string& name : outputs()) times[name] = fs::last_write_time(at("out") / name);
    EXPECT_EQ(finish(*start(), 4).code, 0);
    EXPECT_EQ(status().at("done"), 4) << published << " by a killed worker";
    for (const auto& [name, time] : times)
      EXPECT_EQ(fs::last_write_time(at("out") / name), time) << name << " of " << published;
    fs::remove_all(at("out"));
    fs::remove_all(at("state"));
  }
}

/// An image that kills its worker each time.
TEST_F(WorkerTest, loses_poison_to_the_dead_letters_and_nothing_else) {
  fs::copy_file(at("in/a.png"), at("in/stuck.png"));
  enqueue({"--images-per-message", "1", "--delivery-limit", "2"});
  int kills = 0;
  while (dead_letters().empty() && kills < 10) {
    const auto worker =
        start({.fault = "input:0:1:" + std::to_string(kNoFault)}, 0, {"--delivery-limit", "2"});
    wait_until(*worker, [&] { return worker->has_ended() || !dead_letters().empty(); });
    kills += worker->has_ended() ? 1 : 0;
    worker->signal(SIGKILL);
    worker->wait();
  }
  EXPECT_EQ(kills, 3) << "a delivery, and two more";
  const auto worker = start({}, 0, {"--delivery-limit", "2"});
  EXPECT_EQ(finish(*worker, 4).code, 0);
  const std::vector<broker::DeadLetter> letters = wait_for_dead_letters(1);
  EXPECT_THAT(letters[0].images, ElementsAre(at("in/stuck.png").native()));
  EXPECT_THAT(letters[0].reason, HasSubstr("delivered too often"));
  EXPECT_EQ(depth(queue_).ready, 0);
}

/// The other images of its message are done.
TEST_F(WorkerTest, loses_no_other_image_of_a_message_with_poison) {
  fs::copy_file(at("in/a.png"), at("in/deep/stuck.png"));
  write_png("in/zoo/e.png");
  enqueue({"--images-per-message", "100"});
  for (int kills = 0; dead_letters().empty() && kills < 10; ++kills) {
    const auto worker = start({.fault = "input:0:1:" + std::to_string(kNoFault)});
    wait_until(*worker, [&] { return worker->has_ended() || !dead_letters().empty(); });
    worker->signal(SIGKILL);
    worker->wait();
  }
  wait_for_dead_letters(1);
  EXPECT_EQ(outputs(), (Names{"a.png", "b.png", "deep/c.png", "deep/d.png", "zoo/e.png"}));
}

TEST_F(WorkerTest, computes_while_the_broker_is_away) {
  TcpRelay network(broker_->port());
  enqueue({"--images-per-message", "4"});
  const auto worker =
      start({.fault = "write:-2:" + std::to_string(kNoFault) + ":1"}, network.port());
  wait_until(*worker, [&] { return !outputs().empty(); });
  network.refuse(true);
  network.cut();
  wait_for_log(*worker, "connecting again");
  wait_until(*worker, [&] { return files("out").size() == 4; });
  network.refuse(false);
  const ProcessResult result = finish(*worker, 4);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(depth(queue_).ready, 0) << "messages that came again are acknowledged";
  expect_outputs_of_a_run();
}

TEST_F(WorkerTest, shares_the_output_folder_with_other_workers) {
  for (int i = 0; i < 20; ++i) write_png("in/more/" + std::to_string(i) + ".png");
  const auto first = start(), second = start();
  wait_for_log(*first, "ready: queue");
  wait_for_log(*second, "ready: queue");
  enqueue();
  EXPECT_EQ(finish(*first, 24).code, 0);
  EXPECT_EQ(finish(*second, 24).code, 0);
  expect_outputs_of_a_run();
  EXPECT_EQ(status().at("done"), 24) << "of both ledgers";
}

TEST_F(WorkerTest, tells_of_its_queue_in_its_metrics) {
  const std::string socket = at("status.sock").native();
  const auto metrics = [&] { return status_server::http_get(socket, "/metrics"); };
  const auto has = [&](const std::string& name, int value) {
    return metrics().find("\n" + name + "{queue=\"" + queue_ + "\"} " + std::to_string(value) +
                          "\n") != std::string::npos;
  };
  TcpRelay network(broker_->port());
  publish("no message");
  enqueue();
  const auto worker = start({}, network.port(), {"--set", "telemetry.listen=" + socket});
  wait_for_log(*worker, "ready: queue");
  wait_until(*worker, [&] { return has("eckart_broker_acknowledged_messages_total", 4); });
  wait_until(*worker, [&] { return has("eckart_broker_rejected_messages_total", 1); });
  EXPECT_TRUE(has("eckart_broker_connected", 1));
  EXPECT_TRUE(has("eckart_broker_in_flight_messages", 0));
  EXPECT_EQ(status_server::http_get(socket, "/readyz"), "ok\n");
  network.refuse(true);
  network.cut();
  wait_until(*worker, [&] { return has("eckart_broker_connected", 0); });
  EXPECT_THROW(status_server::http_get(socket, "/readyz"), FatalError);  // 503
  EXPECT_EQ(status_server::http_get(socket, "/healthz"), "ok\n") << "it lives";
  network.refuse(false);
  wait_until(*worker, [&] { return has("eckart_broker_reconnects_total", 1); });
  wait_until(*worker, [&] { return has("eckart_broker_dead_letters", 1); });
  std::ostringstream page;
  page << std::ifstream(ECKART_ROOT "/docs/reference/metrics.md").rdbuf();
  const std::string documented = page.str(), told = metrics();
  const std::regex name("(eckart_broker_[a-z_]+)`? ");
  for (std::sregex_iterator match(documented.begin(), documented.end(), name), end; match != end;
       ++match)
    EXPECT_THAT(told, HasSubstr("# TYPE " + (*match)[1].str() + " "));
  worker->signal(SIGTERM);
  EXPECT_EQ(worker->wait().code, 0);
}

TEST_F(WorkerTest, waits_for_a_broker) {
  TcpRelay network(broker_->port());
  network.refuse(true);
  enqueue();
  const auto worker = start({}, network.port());
  wait_for_log(*worker, "connecting again");
  network.refuse(false);
  EXPECT_EQ(finish(*worker, 4).code, 0);
}

TEST_F(WorkerTest, ends_if_the_broker_refuses_it) {
  enqueue();
  EXPECT_EQ(start({}, 0, {"--delivery-limit", "99"})->wait().code, int(ExitCode::configuration));
  const auto refused =
      start({.environment = {{"ECKART_AMQP_USER", "nobody"}, {"ECKART_AMQP_PASSWORD", "s3cret"}}});
  const ProcessResult result = refused->wait();
  EXPECT_EQ(result.code, int(ExitCode::no_permission));
  EXPECT_THAT(result.err, Not(HasSubstr("s3cret")));
}

/// A file system that is not mounted on this machine must not cost its images.
TEST_F(WorkerTest, fails_no_image_whose_folder_is_missing) {
  enqueue();
  fs::rename(at("in/deep"), at("away"));
  const auto worker = start();
  wait_for_log(*worker, "in/deep does not exist on this machine");
  fs::rename(at("away"), at("in/deep"));
  EXPECT_EQ(finish(*worker, 4).code, 0);
  EXPECT_EQ(status().at("failed"), 0);
  EXPECT_EQ(status().at("done"), 4);
}

}  // namespace
}  // namespace eckart::test
