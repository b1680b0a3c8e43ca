#include "app/monitor.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/wait_for.hpp"

namespace eckart::app {
namespace {

using status_server::http_get;
using testing::HasSubstr;

class MonitorTest : public testing::Test {
 protected:
  const test::TempFolder folder_;
  const std::string socket_ = (folder_.path() / "status.sock").string();
  settings::Settings settings_ = [this] {
    settings::Settings settings;
    settings.telemetry.listen = socket_;
    settings.telemetry.interval_s = 0.01;  // also the period of the snapshots
    return settings;
  }();
  std::atomic<int> samples_ = 0;
};

TEST_F(MonitorTest, has_a_sample_before_it_answers) {
  const auto pipeline = [this] {
    telemetry::Snapshot snapshot;
    snapshot.found = ++samples_;
    return snapshot;
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  monitor.begin(true);
  EXPECT_GE(monitor.last_view().all.found, 1);
  const int samples = samples_;
  EXPECT_GT(monitor.current_view().all.found, samples) << "it looks again";
  EXPECT_EQ(http_get(socket_, "/healthz"), "ok\n");
  monitor.end();
  const std::int64_t last = samples_;
  EXPECT_EQ(monitor.last_view().all.found, last);
  EXPECT_THROW(http_get(socket_, "/healthz"), FatalError);
}

TEST_F(MonitorTest, is_unhealthy_when_sampling_fails) {
  const auto pipeline = [this]() -> telemetry::Snapshot {
    if (++samples_ > 1) throw std::runtime_error("no more");
    return {};
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  monitor.begin(true);
  const auto is_healthy = [this] {
    try {
      return http_get(socket_, "/healthz") == "ok\n";
    } catch (const FatalError& error) {
      EXPECT_THAT(error.what(), HasSubstr("answers 503"));
      return false;
    }
  };
  EXPECT_TRUE(test::wait_for([&] { return !is_healthy(); }));
  EXPECT_GT(samples_, 1);
  EXPECT_THAT(http_get(socket_, "/metrics"), HasSubstr("eckart_ready 1\n"));
}

/// The recent snapshot covers the last few samples, and not the time since the beginning.
TEST_F(MonitorTest, excludes_the_beginning_from_the_recent_snapshot) {
  const auto pipeline = [this] {
    telemetry::Snapshot snapshot;
    snapshot.counts.done = ++samples_;
    snapshot.elapsed_s = snapshot.seconds = samples_;
    return snapshot;
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  monitor.begin(true);
  EXPECT_TRUE(test::wait_for([&] { return samples_ >= 20; }));
  monitor.end();
  const Monitor::View last_view = monitor.last_view();
  EXPECT_GE(last_view.all.counts.done, 20);
  EXPECT_GE(last_view.recent.counts.done, 1);
  EXPECT_LE(last_view.recent.counts.done, 10);
}

/// The lines add up to the total, although the disk was full for some of them.
TEST_F(MonitorTest, adds_an_unwritten_interval_to_the_next_line) {
  const std::filesystem::path folder = folder_.path() / "logs", log = folder / "log.jsonl";
  std::ofstream(folder) << "a file where a folder is needed";
  settings_.telemetry.throughput_log = log;
  const auto pipeline = [this] {
    telemetry::Snapshot snapshot;
    snapshot.counts.done = ++samples_;
    snapshot.elapsed_s = snapshot.seconds = samples_;
    snapshot.startup_s = 1;
    return snapshot;
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  monitor.begin(false);
  EXPECT_TRUE(test::wait_for([&] { return samples_ >= 5; }));
  std::filesystem::remove(folder);
  monitor.end();

  std::int64_t in_intervals = 0, in_total = 0;
  std::ifstream lines(log);
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (json.at("kind") == "interval") in_intervals += json.at("done").get<std::int64_t>();
    if (json.at("kind") == "total") in_total = json.at("done");
  }
  EXPECT_GE(in_total, 5);
  EXPECT_EQ(in_intervals, in_total);
}

TEST(StatusText, counts_waiting_files_of_the_watches_as_unfinished) {
  status_server::RunStatus status;
  status.all.unfinished = 1;
  for (const std::int64_t waiting : {5, 2}) {
    status_server::WatchStatus watch;
    watch.waiting = waiting;
    watch.unfinished = waiting;
    status.state.watches.push_back(watch);
  }
  EXPECT_THAT(status_text(status), HasSubstr("0 skipped, 8 unfinished"));
}

}  // namespace
}  // namespace eckart::app
