// Tests a service with bad files and failing machines.
#include <cerrno>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using FailingWatchTest = WatchTest;

TEST_F(FailingWatchTest, quarantines_undecodable_input_with_record) {
  configure("after: delete, retry_timeout_s: 0");
  write("in/sub/bad.png", "this is no image");
  start();
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/sub/bad.png")); });
  EXPECT_THAT(files("in"), IsEmpty());
  wait_for_log("in/sub/bad.png was quarantined");
  wait_for_log("To retry it, run: eckart requeue " + at("out").native() + " sub/bad.png");
  EXPECT_LT(service_->err().find("unknown file format"), service_->err().find("was quarantined"))
      << "the reason comes first";
  std::ifstream file(at("out/.eckart/quarantine/sub/bad.png.record.json"));
  const auto reason = nlohmann::json::parse(file);
  EXPECT_EQ(reason.at("input"), at("in/sub/bad.png").string());
  EXPECT_EQ(reason.at("reason"), "not an image");
  EXPECT_EQ(reason.at("stage"), "load");
  EXPECT_EQ(reason.at("input_bytes"), 16);
  EXPECT_EQ(reason.at("sha256"),
            "eae080490582decb877f7dcabf9f83a803c8aa1d2e759fb40a873afda921b1d3");
}

TEST_F(FailingWatchTest, retries_kept_failure_only_after_requeue) {
  configure("retry_timeout_s: 0, limits: {side: 20}");
  write("in/large.png", encoded("png", 24, 16));
  start();
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/large.png.kept.json")); });
  EXPECT_THAT(files("in"), ElementsAre("large.png"));
  stop();
  configure("retry_timeout_s: 0");
  start();
  write_png("in/another.png");
  wait_for_outputs(1);
  EXPECT_THAT(files("out"), ElementsAre("another.png"));
  const ProcessResult requeue = run({"requeue", "out", "large.png", "--json"});
  EXPECT_EQ(requeue.code, 0);
  EXPECT_EQ(requeue.out, "{\"kind\":\"requeue\",\"input\":\"" + at("in/large.png").native() +
                             "\",\"error\":null}\n");
  wait_for_outputs(2);
}

TEST_F(FailingWatchTest, counts_quarantined_inputs_as_failed_in_status) {
  const auto status = [&] { return run({"status", "out"}).out; };
  configure("after: move, move_to: " + at("done").string() + ", retry_timeout_s: 0");
  write("in/sub/bad.png", "this is no image");
  start();
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/sub/bad.png")); });
  EXPECT_EQ(stop().code, 0);
  write_png("in/good.png");
  start();
  wait_until([&] { return count("done") == 1; });
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(status(),
              AllOf(HasSubstr("1 done, 1 failed"),
                    HasSubstr("1 in quarantine; to retry it, run: eckart requeue out\n")));
  run({"run", "in", "-o", "out"});
  EXPECT_THAT(status(), HasSubstr("1 done, 1 failed")) << "a run forgets no quarantined input";
  fs::remove_all(at("out/.eckart/quarantine"));
  write_png("in/better.png");
  start();
  wait_until([&] { return count("done") == 2; });
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(status(), HasSubstr("2 done, 0 failed"));
}

TEST_F(FailingWatchTest, reports_unremovable_bad_input_once) {
  configure("after: delete, retry_timeout_s: 0");
  write("in/theirs/bad.png", "this is no image");
  fs::permissions(at("."), fs::perms::all);
  start({.as_nobody = true});
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/theirs/bad.png.kept.json")); });
  for (int scans = 2; scans < 4; ++scans) {
    service_->signal(SIGHUP);
    wait_for_log("ready: ", scans);
    const std::string name = std::to_string(scans) + ".png";
    write_png("in/" + name);
    wait_until([&] { return fs::exists(at("out") / name); });
  }
  const std::string log = stop().err;
  EXPECT_EQ(count_occurrences(log, "unknown file format"), 1) << log;
  EXPECT_THAT(log, HasSubstr("bad.png was left in place (cannot claim"));
}

TEST_F(FailingWatchTest, keeps_separate_records_for_kept_and_quarantined_inputs_of_one_name) {
  const fs::path place = at("out/.eckart/quarantine/q.png");
  configure("after: delete, retry_timeout_s: 0");
  write("in/q.png", "this is no image");
  start();
  wait_until([&] { return fs::exists(place); });
  stop();
  configure("retry_timeout_s: 0");
  write("in/q.png", "nor is this");
  start();
  wait_until([&] { return fs::exists(place.native() + ".kept.json"); });
  for (int scans = 2; scans < 4; ++scans) {
    service_->signal(SIGHUP);
    wait_for_log("ready: ", scans);
    const std::string name = std::to_string(scans) + ".png";
    write_png("in/" + name);
    wait_until([&] { return fs::exists(at("out") / name); });
  }
  EXPECT_EQ(count_occurrences(service_->err(), "unknown file format"), 1) << service_->err();
  write_png("in/q.png");
  wait_until([&] { return fs::exists(at("out/q.png")); });
  wait_until([&] { return !fs::exists(place.native() + ".kept.json"); });
  stop();
  EXPECT_TRUE(fs::exists(place.native() + ".record.json"));
  fs::remove(at("in/q.png"));
  EXPECT_EQ(run({"requeue", "out"}).code, 3) << "a later file of this name is done";
  EXPECT_TRUE(fs::exists(place));
  EXPECT_EQ(run({"requeue", "out", "q.png"}).code, 0);
  EXPECT_THAT(files("in"), testing::Contains("q.png"));
  EXPECT_FALSE(fs::exists(place));
}

TEST_F(FailingWatchTest, restores_quarantined_input_on_requeue) {
  configure("after: delete, retry_timeout_s: 0, limits: {side: 20}");
  write("in/a/large.png", encoded("png", 24, 16));
  start();
  wait_until([&] { return fs::exists(at("out/.eckart/quarantine/a/large.png")); });
  stop();
  EXPECT_EQ(run({"requeue", "out", "other.png"}).code, 66);
  EXPECT_EQ(run({"requeue", "in"}).code, 66) << "which is no output folder";
  EXPECT_EQ(run({"requeue", "out", at("in/a/large.png").string()}).code, 0);
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a")));
  EXPECT_THAT(files("in"), ElementsAre("a/large.png"));
  configure("after: delete");
  start();
  wait_for_outputs(1);
  EXPECT_THAT(files("out"), ElementsAre("a/large.png"));
}

TEST_F(FailingWatchTest, waits_for_unavailable_output_folder) {
  configure();
  write_png("in/a.png");
  write("out", "a file is in the way");
  start();
  wait_for_log("paused; will retry");
  fs::remove(at("out"));
  wait_for_outputs(1);
  wait_for_log("resumed");
}

TEST_F(FailingWatchTest, ends_on_device_loss_and_completes_after_restart) {
  Image killer(ImageShape{24, 16, 1, Depth::u8});
  std::fill_n(killer.data(), killer.bytes(), std::byte{7});
  write("in/killer.png", codec::codec_for(ImageFormat::png).encode(killer, {}));
  for (int i = 0; i < 10; ++i) write_png("in/" + std::to_string(i) + ".png");
  write("eckart.yaml", "backend: cuda\nrank: 2\nwatches:\n" + watch("in", "out"));
  const EckartProcess::Options gpu{
      .program = fs::path(ECKART_FAKE_GPU) / "eckart",
      .environment = {{"LD_LIBRARY_PATH", ECKART_FAKE_GPU}, {"FAKE_GPU_LOST_ON_SAMPLE", "7"}}};
  for (int losses = 0; losses < 2; ++losses) {
    start(gpu);
    EXPECT_EQ(service_->wait().code, 75);
  }
  start(gpu);
  wait_for_outputs(11);
  const ProcessResult result = stop();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, HasSubstr("the GPU was lost 2 times"));
}

TEST_F(FailingWatchTest, waits_for_temporarily_failing_disk_without_loss) {
  configure("after: delete");
  write_png("in/a.png");
  start({.fault = "fsync:" + std::to_string(EIO) + ":1:2"});
  wait_for_log("paused; will retry: ");
  wait_for_log("resumed");
  wait_for_outputs(1);
  wait_until([&] { return count("in") == 0; });
  EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
}

/// No output can be renamed to its path. Each new image of the same name gives other bytes, so that
/// comparing bytes would not identify an earlier output.
TEST_F(FailingWatchTest, leaves_no_publish_intents_of_failed_attempts) {
  configure();
  write_png("in/a.png");
  start({.fault = "rename:" + std::to_string(EIO) + ":1:1000000"});
  wait_for_log("paused; will retry: ");
  EXPECT_EQ(stop().code, 0);
  const std::string sql =
      "SELECT (SELECT count(*) FROM publish_intent) + (SELECT count(*) FROM intent_group)";
  const std::string count = "sqlite3 '" + at("out/.eckart/ledger.db").string() + "' '" + sql + "'";
  EXPECT_EQ(std::system(("test \"$(" + count + ")\" = 0").c_str()), 0);
}

TEST_F(FailingWatchTest, replaces_output_published_before_a_kill) {
  configure();
  write_png("in/a.png");
  for (int call = 1; !fs::exists(at("out/a.png")); ++call) {
    start({.fault = "folder:0:" + std::to_string(call) + ":1"});
    EXPECT_NE(service_->wait().code, 0);
  }
  write("in/a.png", encoded("png", 32, 20));
  start();
  wait_for_log("in/a.png (32 x 20");
  const ProcessResult result = stop();
  EXPECT_EQ(result.code, 0);
  EXPECT_THAT(result.err, Not(HasSubstr("already exists")));
}

TEST_F(FailingWatchTest, continues_with_other_folders_when_one_is_unwritable) {
  configure("after: delete");
  fs::create_directories(at("out/bad"));
  for (const char* folder : {".", "in", "in/bad", "in/good", "out"}) {
    fs::create_directories(at(folder));
    fs::permissions(at(folder), fs::perms::all);
  }
  start({.as_nobody = true});
  for (int i = 0; i < 6; ++i) write_png("in/bad/" + std::to_string(i) + ".png");
  wait_for_log("paused; will retry: ");
  write_png("in/good/a.png");
  wait_until([&] { return !fs::exists(at("in/good/a.png")); });
  EXPECT_EQ(count("in/bad"), 6U);
  EXPECT_EQ(count("out/good"), 1U);
  fs::permissions(at("out/bad"), fs::perms::all);
  wait_until([&] { return count("in") == 0; });
  EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
}

TEST_F(FailingWatchTest, waits_for_output_folder_without_search_permission) {
  configure("after: delete, retry_timeout_s: 0");
  for (const char* folder : {".", "in", "in/bad", "out", "out/bad"}) {
    fs::create_directories(at(folder));
    fs::permissions(at(folder), fs::perms::all);
  }
  fs::permissions(at("out/bad"), fs::perms::none);
  write_png("in/bad/a.png");
  start({.as_nobody = true});
  wait_for_log("paused; will retry: ");
  fs::permissions(at("out/bad"), fs::perms::all);
  wait_until([&] { return count("in") == 0; });
  EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
  EXPECT_EQ(count("out/bad"), 1U);
}

TEST_F(FailingWatchTest, waits_for_a_disk_that_fails_to_look_up_an_output) {
  for (const int error : {EIO, ESTALE}) {
    configure("after: delete, retry_timeout_s: 0");
    write_png("in/unstable/a.png");
    start({.fault = "lstat:" + std::to_string(error) + ":1:1"});
    wait_for_log("paused; will retry: ");
    wait_until([&] { return count("in") == 0; });
    EXPECT_THAT(stop().err, Not(HasSubstr(" E ")));
    EXPECT_EQ(count("out"), 1U);
    fs::remove_all(at("out"));
  }
}

TEST_F(FailingWatchTest, loses_no_file_when_its_output_folder_is_replaced) {
  configure("after: delete, retry_timeout_s: 0");
  start();
  wait_for_log("backend");
  constexpr int kImages = 50;
  for (int i = 0; i < kImages; ++i) {
    write_png("in/" + std::to_string(i) + ".png");
    if (i % 25 != 10) continue;
    wait_for_outputs(1);
    fs::rename(at("out"), at("old" + std::to_string(i)));
  }
  wait_until([&] { return count("in") == 0; });
  const ProcessResult result = stop();
  EXPECT_THAT(result.err, Not(HasSubstr(" E ")));
  EXPECT_THAT(result.err, HasSubstr("was moved, removed or replaced"));
  std::size_t outputs = count("out");
  for (const int i : {10, 35}) outputs += count("old" + std::to_string(i));
  EXPECT_GE(outputs, std::size_t(kImages));
}

/// eckart-watch(1) has this exit code, too.
TEST_F(FailingWatchTest, ends_with_74_if_it_may_not_open_enough_files_to_watch_its_folders) {
  std::string yaml = "backend: cpu\nwatches:\n";
  for (int i = 0; i < 40; ++i) {
    const std::string number = std::to_string(i);
    fs::create_directories(at("in" + number));
    yaml += watch("in" + number, "out" + number);
  }
  write("eckart.yaml", yaml);
  start({.open_files = 40});
  const ProcessResult result = service_->wait();
  EXPECT_EQ(result.code, int(ExitCode::io_error));
  EXPECT_THAT(result.err, HasSubstr("cannot watch folders: Too many open files. Raise the limit"));
  EXPECT_THAT(run({"watch", "--help"}).out, HasSubstr("\n  74 "));
}

TEST_F(FailingWatchTest, recreates_lost_ledger) {
  configure();
  write_png("in/a.png");
  start();
  wait_until([&] { return run({"status", "out"}).out.find("1 done") != std::string::npos; });
  for (const char* name : {"ledger.db", "ledger.db-wal", "ledger.db-shm"})
    fs::remove(at("out/.eckart") / name);
  write_png("in/b.png");
  wait_for_outputs(2);
  EXPECT_EQ(stop().code, 0);
  EXPECT_THAT(run({"status", "out"}).out, HasSubstr("1 done, 0 failed"));
}

TEST_F(FailingWatchTest, continues_with_other_inputs_when_one_cannot_be_deleted) {
  configure("after: delete");
  write_png("in/theirs/a.png");
  fs::permissions(at("in"), fs::perms::all);
  fs::permissions(at("in/theirs"), fs::perms(0755));
  fs::permissions(at("."), fs::perms::all);
  start({.as_nobody = true});
  wait_for_log("left in place; will be retried at each scan");
  for (int scans = 0; scans < 2; ++scans) {  // like `eckart requeue`
    write("out/.eckart/requeue", std::string());
    wait_until([&] { return !fs::exists(at("out/.eckart/requeue")); });
  }
  write_png("in/b.png");
  wait_until([&] { return !fs::exists(at("in/b.png")); });
  EXPECT_TRUE(fs::exists(at("in/theirs/a.png")));
  EXPECT_EQ(count_occurrences(service_->err(), "left in place"), 1);
  EXPECT_THAT(stop().err, Not(HasSubstr("paused")));
}

}  // namespace
}  // namespace eckart::test
