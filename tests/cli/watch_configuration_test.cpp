// Tests a service whose configuration is invalid or changes.
#include <sys/stat.h>

#include "tests/cli/watch_fixture.hpp"

namespace eckart::test {
namespace {

using FailingWatchTest = WatchTest;
using WatchCheckTest = WatchTest;

TEST_F(FailingWatchTest, reloads_configuration_on_hup_and_rejects_an_invalid_one) {
  configure();
  start();
  write_png("in/a.png");
  wait_for_outputs(1);
  write("eckart.yaml", "watches: [{input: relative}]\n");
  service_->signal(SIGHUP);
  wait_for_log("reload failed");
  write_png("in/b.png");
  wait_for_outputs(2);
  fs::create_directories(at("in2"));
  write("eckart.yaml", "backend: cpu\nwatches:\n" + watch("in2", "out2"));
  service_->signal(SIGHUP);
  wait_for_log("ready: 1 watch\n", 2);
  write_png("in2/c.png");
  wait_for_outputs(1, "out2");
  EXPECT_EQ(stop().code, 0);
}

TEST_F(FailingWatchTest, does_not_wait_for_a_pipe_when_it_reloads) {
  configure();
  start();
  wait_for_log("ready: ");
  fs::remove(at("eckart.yaml"));
  ASSERT_EQ(::mkfifo(at("eckart.yaml").c_str(), 0600), 0);
  service_->signal(SIGHUP);
  wait_for_log("the previous configuration is kept: ");
  write_png("in/a.png");
  wait_for_outputs(1);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(FailingWatchTest, keeps_the_previous_configuration_after_a_failed_reload) {
  configure();
  start();
  write_png("in/a.png");
  wait_for_outputs(1);
  write("eckart.yaml", "backend: cuda\ncuda: {devices: [77]}\nwatches:\n" + watch("in", "out2"));
  service_->signal(SIGHUP);
  wait_for_log("the previous configuration is kept");
  write_png("in/b.png");
  wait_for_outputs(2);
  EXPECT_EQ(stop().code, 0);
}

TEST_F(FailingWatchTest, ends_when_no_configuration_can_start) {
  fs::copy(ECKART_FAKE_GPU, at("gpu"));
  write("eckart.yaml", "backend: cuda\nrank: 2\nwatches:\n" + watch("in", "out"));
  start({.program = at("gpu/eckart"), .environment = {{"LD_LIBRARY_PATH", at("gpu").string()}}});
  wait_for_log("ready: ");
  for (const auto& entry : fs::directory_iterator(at("gpu"))) {
    if (entry.path().filename().native().starts_with("libeckart_cuda")) fs::remove(entry.path());
  }
  service_->signal(SIGHUP);
  EXPECT_EQ(service_->wait().code, 69);
}

TEST_F(WatchCheckTest, rejects_archives) {
  fs::create_directory(at("in"));
  write("eckart.yaml", "output: {pack: tar}\nwatches:\n" + watch("in", "out"));
  const ProcessResult result = run({"watch", "--config", "eckart.yaml", "--check"});
  EXPECT_EQ(result.code, int(ExitCode::configuration));
  EXPECT_THAT(result.err, HasSubstr("output.pack tar is for eckart run --shard"));
}

/// The watch would wait for the lock forever.
TEST_F(WatchCheckTest, rejects_the_own_ledger_of_another_folder) {
  fs::create_directories(at("other/.eckart"));
  configure("ledger: " + at("other/.eckart/ledger.db").string());
  const ProcessResult result = run({"watch", "--config", "eckart.yaml", "--check"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, AllOf(HasSubstr("watches[1]: ledger "),
                                HasSubstr("belongs to " + at("other").string())));
  configure("ledger: " + at("out/.eckart/ledger.db").string());
  const ProcessResult checked = run({"watch", "--config", "eckart.yaml", "--check"});
  EXPECT_EQ(checked.code, 0);
  EXPECT_EQ(checked.out, "no errors: 1 watch\n");
}

TEST_F(WatchCheckTest, reports_an_invalid_watch_and_missing_folders) {
  write("eckart.yaml", "watches:\n  - {input: " + at("in").string() +
                           ", rank: [5, 20], output: {folder: " + at("out").string() +
                           ", name: '{stem}.{ext}'}}\n");
  const ProcessResult impossible = run({"watch", "--check", "--config", "eckart.yaml"});
  EXPECT_EQ(impossible.code, 78) << impossible.err;
  EXPECT_THAT(impossible.err, HasSubstr("eckart.yaml:2: watches[1]: the output name"));
  write("file", std::string("no folder"));
  write("eckart.yaml", "watches:\n" + watch("nothing", "out") + watch("in", "file"));
  const ProcessResult possible = run({"watch", "--check", "--config", "eckart.yaml"});
  EXPECT_EQ(possible.code, 0);
  EXPECT_THAT(possible.err, HasSubstr("nothing does not exist; the service will wait for it"));
  EXPECT_THAT(possible.err, HasSubstr("watches[2]: " + at("file").string() + " is not a folder"));
}

TEST_F(WatchCheckTest, names_the_target_of_an_input_that_is_a_link_if_inputs_are_removed) {
  fs::create_directory_symlink(at("in"), at("link"));
  const auto warning = [&](const std::string& input, const std::string& after) {
    write("eckart.yaml", "watches:\n" + watch(input, "out", "after: " + after));
    const ProcessResult checked = run({"watch", "--check", "--config", "eckart.yaml"});
    EXPECT_EQ(checked.code, 0);
    return checked.err;
  };
  EXPECT_THAT(warning("link", "delete"),
              HasSubstr("link leads to " + at("in").string() + " by symbolic links"));
  EXPECT_EQ(warning("link", "keep"), "");
  EXPECT_EQ(warning("in/", "delete"), "");
}

TEST_F(WatchCheckTest, rejects_watches_with_conflicting_folders) {
  fs::create_directory_symlink(at("in"), at("link"));
  for (const std::string& watches :
       {watch("in", "out") + watch("in/sub", "out2", "after: delete"),
        watch("in", "out") + watch("link", "out2", "after: delete"),
        watch("in", "out") + watch("in2", "out/sub"),
        watch("in", "out", "after: move, move_to: " + at("out/moved").string()),
        watch("in", "out") + watch("in2", "out2", "after: move, move_to: " + at("out").string())}) {
    write("eckart.yaml", "backend: cpu\nwatches:\n" + watches);
    EXPECT_EQ(run({"watch", "--config", "eckart.yaml", "--check"}).code, 78) << watches;
  }
  write("eckart.yaml", "backend: cpu\nwatches:\n" + watch("in", "out") + watch("in/sub", "out2"));
  EXPECT_EQ(run({"watch", "--config", "eckart.yaml", "--check"}).code, 0) << "both keep";
}

/// The first watch would recreate outputs that the second removes.
TEST_F(WatchCheckTest, rejects_a_watch_that_removes_results_of_one_that_keeps_inputs) {
  const std::string move = "after: move, move_to: " + at("done").string();
  const auto check = [&](const std::string& watches) {
    write("eckart.yaml", "backend: cpu\nwatches:\n" + watches);
    return run({"watch", "--config", "eckart.yaml", "--check"});
  };
  for (const std::string& takes_away : {std::string("after: delete"), move}) {
    const ProcessResult result = check(watch("in", "middle") + watch("middle", "out", takes_away));
    EXPECT_EQ(result.code, 78) << result.err;
    EXPECT_THAT(result.err, HasSubstr("Each removed output would be made again"));
    EXPECT_EQ(
        check(watch("in", "middle", "after: delete") + watch("middle", "out", takes_away)).code, 0);
  }
  EXPECT_EQ(check(watch("in", "middle") + watch("middle", "out")).code, 0);
}

TEST_F(WatchCheckTest, rejects_watches_whose_results_arrive_again) {
  write("eckart.yaml",
        "backend: cpu\nwatches:\n" + watch("in", "in2/out") + watch("in2", "in/out"));
  fs::create_directories(at("in2"));
  const ProcessResult result = run({"watch", "--config", "eckart.yaml", "--check"});
  EXPECT_EQ(result.code, 78) << result.err;
  EXPECT_THAT(result.err, HasSubstr("would be processed again as inputs"));
  configure();
  EXPECT_EQ(run({"watch", "--config", "eckart.yaml", "--check"}).code, 0);
}

}  // namespace
}  // namespace eckart::test
