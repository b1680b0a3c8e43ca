// Requests the status page and metrics of a running service, like curl and Prometheus.
#include "status_server/status_server.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/watch_fixture.hpp"
#include "tests/support/free_port.hpp"

namespace eckart::test {
namespace {

using Json = nlohmann::json;
using status_server::http_get;

class StatusServerTest : public WatchTest {
 protected:
  std::string socket() const { return at("status.sock").string(); }
  void start_listening(const std::string& top = {}) {
    configure("retry_timeout_s: 0", "telemetry: {listen: " + socket() + "}\n" + top);
    start();
    wait_for_log("ready:");
  }
  Json status() const { return Json::parse(http_get(socket(), "/status.json")); }
  /// Returns the value of a series, such as `name{label="value"}`.
  double metric(const std::string& series) const {
    const std::string text = http_get(socket(), "/metrics");
    const std::size_t begin = text.find("\n" + series + " ");
    EXPECT_NE(begin, text.npos) << series;
    return begin == text.npos ? -1 : std::stod(text.substr(begin + series.size() + 2));
  }
};

TEST_F(StatusServerTest, reports_each_watch_by_its_name) {
  fs::create_directories(at("in2"));
  write("in/a.dng", "x");
  write("eckart.yaml", "telemetry: {listen: " + socket() + "}\nbackend: cpu\nwatches:\n" +
                           watch("in", "out", "name: scans") + watch("in2", "out2"));
  write_png("in2/b.png");
  write("out2/.eckart/quarantine/old.png", "four");
  write("out2/.eckart/quarantine/old.png.record.json", "{}");
  start();
  wait_for_log("watch scans: input folder " + at("in").string());
  wait_for_log("in: 1 file not read: 1 .dng");
  wait_for_outputs(1, "out2");
  wait_until([&] { return status()["watches"][1]["done"] == 1; });
  const Json watches = status()["watches"];
  EXPECT_EQ(watches[0]["name"], "scans");
  EXPECT_EQ(watches[0]["state"], "watching");
  EXPECT_EQ(watches[0]["done"], 0);
  EXPECT_EQ(watches[0]["not_read"], (Json{{".dng", 1}}));
  EXPECT_EQ(watches[1]["name"], "in2");
  wait_until([&] { return status()["watches"][1]["quarantine_files"] == 1; });
  EXPECT_EQ(status()["watches"][1]["quarantine_bytes"], 6);
  EXPECT_THAT(http_get(socket(), "/metrics"),
              AllOf(HasSubstr("eckart_images_total{watch=\"in2\",result=\"done\"} 1\n"),
                    HasSubstr("eckart_ignored_total{watch=\"scans\"} 1\n")));
  EXPECT_THAT(http_get(socket(), "/status.txt"),
              HasSubstr("watch     scans: watching, 0 done, 0 failed, 0 unfinished, 0 in "
                        "quarantine, 1 file not read: 1 .dng; "));
  const ProcessResult all = run({"status", "--config", "eckart.yaml"});
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("watch scans: " + at("in").string() + "\n"),
                             HasSubstr("\nwatch in2: " + at("in2").string() + "\n" +
                                       at("out2").string() + ": 1 done, 0 failed\n")));
}

TEST_F(StatusServerTest, reports_done_and_failed_images) {
  start_listening();
  write_png("in/a.png");
  write("in/<b>&.png", std::string("no image"));
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"done\"}") == 1; });
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"failed\"}") == 1; });
  EXPECT_EQ(metric("eckart_failures_total{stage=\"load\",reason=\"not an image\"}"), 1);
  EXPECT_EQ(metric("eckart_ready"), 1);
  EXPECT_EQ(metric("eckart_backlog_images"), 0);
  EXPECT_EQ(metric("eckart_oldest_unfinished_timestamp_seconds"), 0);
  EXPECT_NEAR(metric("eckart_last_success_timestamp_seconds"), double(std::time(nullptr)), 60);
  EXPECT_EQ(metric("eckart_end_to_end_seconds_count"), 1);
  EXPECT_EQ(metric("eckart_end_to_end_seconds_bucket{le=\"+Inf\"}"), 1);

  const Json now = status();
  EXPECT_EQ(now["total"]["done"], 1);
  EXPECT_TRUE(now["ready"]);
  EXPECT_EQ(now["watches"][0]["input"], at("in").string());
  EXPECT_EQ(now["recent_failures"][0]["input"], at("in/<b>&.png").string());
  EXPECT_EQ(now["recent_failures"][0]["reason"], "not an image");
  EXPECT_EQ(now["history"]["time_s"].size(), now["history"]["stages"]["load"].size());
  EXPECT_EQ(http_get(socket(), "/healthz"), "ok\n");
  EXPECT_EQ(http_get(socket(), "/readyz"), "ok\n");
  EXPECT_THAT(http_get(socket(), "/"), HasSubstr("<!doctype html>"));
  EXPECT_EQ(stop().code, 0);
  EXPECT_FALSE(fs::exists(socket()));
}

TEST_F(StatusServerTest, is_not_ready_while_an_input_is_missing) {
  start_listening();
  wait_until([&] { return metric("eckart_ready") == 1; });  // its folders were scanned
  fs::remove(at("in"));
  wait_until([&] { return metric("eckart_ready") == 0; });
  EXPECT_THAT(status()["not_ready"][0].get<std::string>(),
              HasSubstr("in: the input folder is missing"));
  EXPECT_EQ(metric("eckart_watch_degraded"), 1);
  EXPECT_THROW(http_get(socket(), "/readyz"), FatalError);  // 503
  EXPECT_EQ(http_get(socket(), "/healthz"), "ok\n") << "it lives";
  fs::create_directories(at("in"));
  wait_until([&] { return metric("eckart_ready") == 1; });
}

/// Dashboards and alerts rely on docs/reference/metrics.md.
TEST_F(StatusServerTest, has_the_metrics_that_are_documented_and_no_others) {
  std::ostringstream page;
  page << std::ifstream(ECKART_ROOT "/docs/reference/metrics.md").rdbuf();
  const auto names_in = [](const std::string& text, const std::regex& pattern) {
    std::set<std::string> names;
    for (std::sregex_iterator match(text.begin(), text.end(), pattern), end; match != end; ++match)
      names.insert((*match)[1]);
    return names;
  };
  std::set<std::string> documented = names_in(page.str(), std::regex(R"(\n\| `([a-z_]+)` \|)"));
  std::erase_if(documented, [](const std::string& name) {  // of eckart worker
    return name.starts_with("eckart_broker_");
  });
  start_listening();
  std::set<std::string> told =
      names_in(http_get(socket(), "/metrics"), std::regex(R"(# TYPE ([a-z_]+) )"));
  EXPECT_EQ(told, documented);
}

TEST_F(StatusServerTest, takes_over_only_the_socket_of_a_dead_process) {
  start_listening();
  EckartProcess::Options options;
  options.folder = at(".");
  write("other.yaml",
        "telemetry: {listen: " + socket() + "}\nbackend: cpu\nwatches:\n" + watch("in2", "out2"));
  const ProcessResult second = EckartProcess({"watch", "--config", "other.yaml"}, options).wait();
  EXPECT_EQ(second.code, 73);
  EXPECT_THAT(second.err,
              HasSubstr("cannot listen on " + socket() + ": another process is listening there"));

  service_->signal(SIGKILL);
  service_->wait();
  ASSERT_TRUE(fs::exists(socket()));
  EXPECT_THROW(http_get(socket(), "/healthz"), FatalError);
  start_listening();
  EXPECT_EQ(http_get(socket(), "/healthz"), "ok\n");
  struct stat file {};
  ASSERT_EQ(::stat(socket().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 0777U, 0660U);
}

TEST_F(StatusServerTest, rejects_port_in_use) {
  const FreePort free_port;
  const std::string port = "127.0.0.1:" + std::to_string(free_port.number());
  configure({}, "telemetry: {listen: \"" + port + "\"}\n");
  start();
  wait_for_log("ready:");
  EXPECT_EQ(http_get(port, "/healthz"), "ok\n");
  write_png("other/a.png");
  const ProcessResult second =
      run({"run", "other", "-o", "out2", "--backend", "cpu", "--set", "telemetry.listen=" + port});
  EXPECT_EQ(second.code, 0) << "the images are wanted all the same";
  EXPECT_THAT(second.err, HasSubstr("status page disabled: cannot listen on " + port +
                                    ": Address already in use"));
  EXPECT_EQ(http_get(port, "/healthz"), "ok\n");
  EXPECT_EQ(run({"top", "http://" + port + "/"}).code, 0) << "as the log names it";
}

using TopCommandTest = StatusServerTest;

TEST_F(TopCommandTest, prints_status_or_reports_no_answer) {
  start_listening();
  write_png("in/a.png");
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"done\"}") == 1; });
  const ProcessResult terminal_output = run({"top", socket()});
  EXPECT_EQ(terminal_output.code, 0) << terminal_output.err;
  EXPECT_THAT(terminal_output.out, AllOf(HasSubstr("images     1 done"), HasSubstr("watch     "),
                                         HasSubstr("stage    threads")));
  EXPECT_EQ(run({"top", "--config", "eckart.yaml"}).code, 0);
  EXPECT_EQ(stop().code, 0);
  const ProcessResult gone = run({"top", socket()});
  EXPECT_EQ(gone.code, 69);
  EXPECT_THAT(gone.err, HasSubstr("no eckart process is listening on"));
}

TEST_F(TopCommandTest, prints_the_status_page_as_a_line_of_json) {
  start_listening();
  write_png("in/a.png");
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"done\"}") == 1; });
  const ProcessResult result = run({"top", socket(), "--json", "--once"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out.find("{\"kind\":\"status_page\","), 0U);
  EXPECT_EQ(result.out.find('\n'), result.out.size() - 1);
  const Json page = Json::parse(result.out);
  EXPECT_EQ(page["watches"][0]["done"], 1);
  EXPECT_THAT(page["history"]["time_s"], IsEmpty());
}

TEST_F(TopCommandTest, reports_an_address_without_status_page) {
  const auto nothing = [] { return std::string(); };
  const auto expect_error = [&](const std::string& page, const std::string& error) {
    const status_server::StatusServer another(
        socket(), {[&](double) { return page; }, nothing, nothing, nothing, nothing});
    const ProcessResult result = run({"top", socket(), "--json", "--once"});
    EXPECT_EQ(result.code, 69) << page;
    EXPECT_THAT(result.err, HasSubstr(socket() + error)) << page;
    EXPECT_EQ(result.out, "") << page;
  };
  for (const char* page : {"", "text", "[]", "{}", "{\"kind\":1}", "{\"kind\":\"summary\"}"})
    expect_error(page, " does not answer with the status of eckart");
  const ProcessResult missing = run({"top", socket(), "--json", "--once"});
  EXPECT_EQ(missing.code, 69);
  EXPECT_THAT(missing.err, HasSubstr("no eckart process is listening on " + socket()));
}

TEST_F(TopCommandTest, rejects_an_invalid_address_by_its_name) {
  for (const std::string& address :
       Names{"foo", "example.org:80", "localhost:99999", "a \"b\" #c"}) {
    const ProcessResult result = run({"top", address});
    EXPECT_EQ(result.code, 64) << result.err;
    EXPECT_THAT(result.err, AllOf(HasSubstr("the address '" + address + "' is not a loopback"),
                                  Not(HasSubstr("--set"))));
  }
}

TEST_F(TopCommandTest, takes_its_address_literally) {
  const std::string address = at("a #b").string();
  const auto nothing = [] { return std::string(); };
  const status_server::StatusServer server(
      address, {[](double) { return std::string(); }, nothing, [] { return std::string("here\n"); },
                nothing, nothing});
  EXPECT_EQ(run({"top", address}).out, "here\n");
}

TEST_F(TopCommandTest, escapes_control_characters) {
  const auto nothing = [] { return std::string(); };
  const auto text = [] { return std::string("images\n\033[2Jx\n"); };
  const status_server::StatusServer another(
      socket(), {[](double) { return std::string(); }, nothing, text, nothing, nothing});
  EXPECT_EQ(run({"top", socket()}).out, "images\n\\x1b[2Jx\n");
}

TEST_F(TopCommandTest, reconnects_to_a_restarted_service) {
  start_listening();
  EckartProcess top({"top", socket()},
                    {.folder = at("."), .on_terminal = true, .environment = {{"TERM", "xterm"}}});
  const auto last_screen = [&] {
    const std::string terminal_output = top.terminal_output();
    const std::size_t begin = terminal_output.rfind("\033[H\033[J");
    return begin == terminal_output.npos ? terminal_output : terminal_output.substr(begin);
  };
  const auto shows = [&](const std::string& text) {
    return last_screen().find(text) != std::string::npos;
  };
  const std::string figures = "images     0 done",
                    notice = "no eckart process is listening on " + socket();
  wait_until([&] { return shows(figures); });
  EXPECT_FALSE(shows(notice));
  EXPECT_EQ(stop().code, 0);
  wait_until([&] { return shows(notice) && shows(figures); });
  start_listening();
  wait_until([&] { return shows(figures) && !shows(notice); });
  top.signal(SIGINT);
  EXPECT_EQ(top.wait().code, -SIGINT);
}

TEST_F(TopCommandTest, ends_when_nothing_answers_at_first) {
  EckartProcess top({"top", socket()},
                    {.folder = at("."), .on_terminal = true, .environment = {{"TERM", "xterm"}}});
  EXPECT_EQ(top.wait().code, 69);
  EXPECT_THAT(top.terminal_output(), HasSubstr("no eckart process is listening on"));
}

/// Alerts read process metrics, and a reload does not change the process.
TEST_F(StatusServerTest, continues_after_a_reload) {
  start_listening();
  write_png("in/a.png");
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"done\"}") == 1; });
  const double started = metric("process_start_time_seconds");
  EXPECT_NEAR(started, double(std::time(nullptr)), 60);
  const double succeeded = metric("eckart_last_success_timestamp_seconds");

  service_->signal(SIGHUP);
  wait_for_log("ready:", 2);
  EXPECT_EQ(http_get(socket(), "/healthz"), "ok\n");
  EXPECT_EQ(metric("eckart_images_total{watch=\"in\",result=\"done\"}"), 0)
      << "counters begin anew";
  EXPECT_EQ(metric("process_start_time_seconds"), started);
  EXPECT_EQ(metric("eckart_last_success_timestamp_seconds"), succeeded);
  write_png("in/b.png");
  wait_until([&] { return metric("eckart_images_total{watch=\"in\",result=\"done\"}") == 1; });
  EXPECT_GT(metric("eckart_last_success_timestamp_seconds"), succeeded);
}

using ListenAddressTest = CliTest;

TEST_F(ListenAddressTest, is_rejected_if_invalid) {
  for (const char* wrong : {"0.0.0.0:9464", "9464", "127.0.0.1", "127.0.0.1:70000", "example:1"}) {
    const ProcessResult result = run({"run", "in", "-o", "out", "--backend", "cpu", "-q", "--set",
                                      std::string("telemetry.listen=") + wrong});
    EXPECT_EQ(result.code, 78) << wrong;
    EXPECT_THAT(result.err, HasSubstr("telemetry.listen")) << wrong;
  }
}

}  // namespace
}  // namespace eckart::test
