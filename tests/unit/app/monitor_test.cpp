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

TEST(StatusText, has_the_process_its_watches_and_its_newest_failures) {
  status_server::RunStatus status;
  status.identity.command = "watch";
  status.identity.version = "1.2";
  status.identity.machine.host = "nas\n";
  const std::string first = status_text(status).substr(0, status_text(status).find('\n'));
  EXPECT_EQ(first, "eckart    watch, version 1.2, on nas\\n");
  status.all.backend = "cuda";
  status.all.device = "a GPU";
  status.state.not_ready_reasons = {"starting", "waiting"};
  status_server::WatchStatus watch;
  watch.name = "scans";
  watch.input = "/srv/in\n";
  watch.condition = status_server::WatchCondition::waiting_for_space;
  watch.done = 1234;
  watch.failed = 5;
  watch.unfinished = 6;
  watch.quarantine_files = 7;
  EXPECT_EQ(watch_line(watch),
            "scans: waiting for disk space, 1,234 done, 5 failed, 6 unfinished, 7 in quarantine; "
            "/srv/in\\n");
  watch.not_read = {{".tif", 10}, {".heic", 3}};
  EXPECT_EQ(watch_line(watch),
            "scans: waiting for disk space, 1,234 done, 5 failed, 6 unfinished, 7 in quarantine, "
            "13 files not read: 10 .tif, 3 .heic; /srv/in\\n");
  status.state.watches = {watch};
  for (int i = 0; i < 7; ++i) {
    telemetry::ImageFailure failure;
    failure.file = "/srv/in/" + std::to_string(i) + "\n.png";
    failure.reason = FailureReason::corrupt;
    status.all.recent_failures.push_back(failure);
  }
  const std::string text = status_text(status);
  EXPECT_THAT(text, testing::StartsWith("eckart    watch, version 1.2, on nas\\n, cuda: a GPU\n"
                                        "NOT READY starting\nNOT READY waiting\nwatch     " +
                                        watch_line(watch) + "\nimages "));
  std::string failures;
  for (int i = 0; i < 5; ++i)
    failures += "failed     /srv/in/" + std::to_string(i) + "\\n.png: corrupt\n";
  EXPECT_THAT(text, testing::EndsWith("\n" + failures));
}

TEST_F(MonitorTest, answers_with_the_reasons_of_the_service) {
  std::atomic<bool> is_ready = false, is_healthy = false;
  const auto service = [&] {
    status_server::ServiceState state;
    if (!is_ready) state.not_ready_reasons = {"starting", "the disk is full"};
    if (!is_healthy) state.unhealthy_reasons = {"load has stalled"};
    return state;
  };
  Monitor monitor(settings_, "watch", {[] { return telemetry::Snapshot(); }, service});
  monitor.begin(true);
  monitor.begin(true);  // again, without effect
  const auto answer = [&](const char* path) -> std::string {
    try {
      return http_get(socket_, path);
    } catch (const FatalError& error) {
      return error.what();
    }
  };
  EXPECT_THAT(answer("/readyz"), HasSubstr("answers 503"));
  EXPECT_THAT(answer("/healthz"), HasSubstr("answers 503"));
  EXPECT_THAT(answer("/status.txt"), HasSubstr("NOT READY starting\nNOT READY the disk is full\n"));
  is_ready = true;
  EXPECT_EQ(answer("/readyz"), "ok\n");
  EXPECT_THAT(answer("/healthz"), HasSubstr("answers 503"));
  is_healthy = true;
  EXPECT_EQ(answer("/healthz"), "ok\n");
  EXPECT_EQ(nlohmann::json::parse(answer("/status.json")).value("kind", ""), "status_page");
  EXPECT_THAT(answer("/metrics"), HasSubstr("eckart_ready 1\n"));
}

TEST_F(MonitorTest, runs_without_a_status_page_unless_it_must_listen) {
  settings_.telemetry.listen = (folder_.path() / "none/status.sock").native();
  const auto pipeline = [this] {
    ++samples_;
    return telemetry::Snapshot();
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  EXPECT_THROW(monitor.begin(true), FatalError);
  monitor.begin(false);
  EXPECT_TRUE(test::wait_for([&] { return samples_ >= 4; })) << "it samples";
  monitor.end();
  const int samples = samples_;
  monitor.end();
  EXPECT_EQ(samples_, samples) << "it ends once";
}

/// Nothing is known of a run before it has a backend.
TEST_F(MonitorTest, writes_no_interval_before_there_is_a_backend) {
  settings_.telemetry.listen.clear();
  settings_.telemetry.throughput_log = (folder_.path() / "log.jsonl").native();
  const auto pipeline = [this] {
    telemetry::Snapshot snapshot;
    snapshot.elapsed_s = snapshot.seconds = ++samples_;
    return snapshot;
  };
  Monitor monitor(settings_, "run", {pipeline, [] { return status_server::ServiceState{}; }});
  monitor.begin(false);
  EXPECT_TRUE(test::wait_for([&] { return samples_ >= 5; }));
  EXPECT_FALSE(std::filesystem::exists(settings_.telemetry.throughput_log));
  monitor.end();
  std::ifstream lines(settings_.telemetry.throughput_log);
  std::string kinds;
  for (std::string line; std::getline(lines, line);)
    kinds += nlohmann::json::parse(line).value("kind", "") + " ";
  EXPECT_EQ(kinds, "run interval total ");
}

}  // namespace
}  // namespace eckart::app
