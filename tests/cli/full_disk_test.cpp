// Tests that a full or broken disk stops the run, fails no image, and leaves no temporary files.
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "status_server/status_server.hpp"
#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

struct DiskFault {
  const char* call;
  int error;
  bool is_permanent;
};

std::ostream& operator<<(std::ostream& out, const DiskFault& fault) {
  out << fault.call;
  if (fault.error == ENOSPC) return out << "_without_space" << (fault.is_permanent ? "" : "_once");
  return out << "_with_error_" << fault.error << (fault.is_permanent ? "" : "_once");
}

std::string name_of(const ::testing::TestParamInfo<DiskFault>& info) {
  return ::testing::PrintToString(info.param);
}

class FullDiskTest : public CliTest, public ::testing::WithParamInterface<DiskFault> {
 protected:
  static constexpr int kImages = 12;

  void SetUp() override {
    for (int i = 0; i < kImages; ++i) write_png("in/" + std::to_string(i) + ".png");
  }
  ProcessResult run_with(const std::string& fault, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run", "in",        "-o",  "out",   "-k",
                                          "5",   "--backend", "cpu", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.fault = fault});
  }
};

TEST_P(FullDiskTest, stops_the_run_and_leaves_only_complete_files) {
  const DiskFault& fault = GetParam();
  const ProcessResult stopped =
      run_with(std::string(fault.call) + ":" + std::to_string(fault.error) +
               ":5:" + (fault.is_permanent ? "1000000" : "1"));
  EXPECT_EQ(stopped.code, int(ExitCode::io_error)) << stopped.err;
  const std::string why = std::strerror(fault.error);
  EXPECT_EQ(count_occurrences(stopped.err, why + ": stopped"), 1) << stopped.err;
  EXPECT_THAT(line_containing(stopped.err, "STOPPED"), HasSubstr("cannot write out/"));
  const auto json = nlohmann::json::parse(stopped.out);
  EXPECT_THAT(std::string(json.at("stopped_by")), HasSubstr(why));
  EXPECT_EQ(json.at("failed"), 0);
  const Names left = files("out");
  EXPECT_EQ(json.at("done"), left.size());
  EXPECT_LT(left.size(), kImages);
  for (const std::string& name : left) {
    EXPECT_TRUE(name.ends_with(".png")) << name;
    EXPECT_NO_THROW(decode("out/" + name));
  }

  EXPECT_EQ(run_with("").code, 0);
  EXPECT_EQ(files("out").size(), kImages);
}

INSTANTIATE_TEST_SUITE_P(
    Fault, FullDiskTest,
    ::testing::Values(DiskFault{"open", ENOSPC, true}, DiskFault{"open", EMFILE, true},
                      DiskFault{"write", ENOSPC, true}, DiskFault{"write", EDQUOT, true},
                      DiskFault{"write", EIO, false}, DiskFault{"fsync", EIO, false},
                      DiskFault{"fsync", ENOSPC, true}, DiskFault{"fsync", EUCLEAN, true},
                      DiskFault{"close", ETIMEDOUT, false}, DiskFault{"close", EIO, true},
                      DiskFault{"close", ENOSPC, false}, DiskFault{"rename", ENOSPC, true},
                      DiskFault{"rename", EIO, false}),
    name_of);

/// The call fails a few times and then succeeds.
class TemporarilyFullDiskTest : public FullDiskTest {};

TEST_P(TemporarilyFullDiskTest, is_waited_for_with_wait_for_space) {
  const int error = GetParam().error;
  const ProcessResult result = run_with(
      std::string(GetParam().call) + ":" + std::to_string(error) + ":5:6", {"--wait-for-space"});
  EXPECT_EQ(result.code, 0) << result.err;
  const int waits = count_occurrences(
      result.err, std::strerror(error) + std::string("; waiting for free disk space"));
  EXPECT_GE(waits, 1);
  EXPECT_EQ(count_occurrences(result.err, "disk space is available again; continuing"), waits);
  EXPECT_EQ(files("out").size(), kImages);
}

INSTANTIATE_TEST_SUITE_P(
    Fault, TemporarilyFullDiskTest,
    ::testing::Values(DiskFault{"write", ENOSPC, true}, DiskFault{"write", EDQUOT, true},
                      DiskFault{"fsync", ENOSPC, true}, DiskFault{"close", ENOSPC, true},
                      DiskFault{"close", EDQUOT, true}, DiskFault{"rename", ENOSPC, true}),
    name_of);

using DiskFaultTest = CliTest;

TEST_F(DiskFaultTest, makes_a_run_that_waits_for_space_not_ready) {
  write_png("in/a.png");
  const std::string socket = at("status.sock").string();
  for (const std::string call : {"mkdir", "ledger", "write"}) {  // from the start, or later
    SCOPED_TRACE(call);
    fs::remove_all(at("out"));
    EckartProcess program(
        {"run", "in", "-o", "out", "--backend", "cpu", "--wait-for-space", "--set",
         "telemetry.listen=" + socket},
        {.folder = at("."), .fault = call + ":" + std::to_string(ENOSPC) + ":1:1000000"});
    wait_for(
        [&] { return program.err().find("waiting for free disk space") != std::string::npos; });
    wait_for([&] { return fs::exists(socket); });
    EXPECT_THROW(status_server::http_get(socket, "/readyz"), FatalError);
    EXPECT_EQ(status_server::http_get(socket, "/healthz"), "ok\n");
    const auto status = nlohmann::json::parse(status_server::http_get(socket, "/status.json"));
    EXPECT_THAT(std::string(status.at("not_ready").at(0)),
                HasSubstr("waiting for free disk space: "));
    program.signal(SIGTERM);
    EXPECT_EQ(program.wait().code, 128 + SIGTERM) << program.err();
  }
}

/// Each call that changes the ledger fails in turn.
TEST_F(DiskFaultTest, is_waited_for_before_recording_in_the_ledger) {
  for (int i = 0; i < 6; ++i) write_png("in/" + std::to_string(i) + ".png");
  int waits = 0;
  for (int call = 1;; call += kIsSanitized ? 11 : 5) {
    SCOPED_TRACE(::testing::Message() << "call " << call);
    fs::remove_all(at("out"));
    const ProcessResult result =
        run({"run", "in", "-o", "out", "-k", "2", "--wait-for-space", "--set", "durability=file"},
            {.fault = "ledger:" + std::to_string(ENOSPC) + ":" + std::to_string(call) + ":2"});
    if (result.code == int(ExitCode::io_error)) {  // SQLite does not report why a sync failed
      EXPECT_THAT(result.err, HasSubstr("ledger.db: disk I/O error"));
      EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
    } else {
      ASSERT_EQ(result.code, 0) << result.err;
    }
    const bool waited = result.err.find("waiting for free disk space") != result.err.npos;
    waits += waited;
    EXPECT_THAT(run({"status", "out"}).out, HasSubstr("6 done, 0 failed"));
    if (!waited && call > 30) break;
  }
  EXPECT_GT(waits, 4);
}

TEST_F(DiskFaultTest, is_an_io_error_from_the_start) {
  write_png("in/a.png");
  for (const char* call : {"open", "mkdir", "ledger"}) {
    for (const int error : {ENOSPC, EIO}) {
      fs::remove_all(at("out"));
      const ProcessResult result =
          run({"run", "in", "-o", "out", "--backend", "cpu"},
              {.fault = std::string(call) + ":" + std::to_string(error) + ":1:1000000"});
      EXPECT_EQ(result.code, int(ExitCode::io_error)) << call << " " << result.err;
      const bool of_ledger = call == std::string_view("ledger");
      EXPECT_THAT(result.err, HasSubstr(of_ledger ? "ledger.db: " : std::strerror(error)));
    }
  }
}

TEST_F(DiskFaultTest, is_waited_for_from_the_start_with_wait_for_space) {
  write_png("in/a.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "-k", "2", "--wait-for-space"},
                                   {.fault = "any:" + std::to_string(ENOSPC) + ":1:2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_occurrences(result.err, "waiting for free disk space"), 1);
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

/// A file system of a few inodes, in a namespace of its own, mounted at `full`; `script` goes on.
class InodeShortageTest : public CliTest {
 protected:
  void SetUp() override {
    write_png("in/a.png");
    fs::create_directory(at("full"));
    if (on_few_inodes(10, ":").code != 0) GTEST_SKIP() << "no mounts may be made here";
  }
  ProcessResult on_few_inodes(int inodes, const std::string& script) {
    EckartProcess::Options shell;
    shell.program = "/usr/bin/unshare";
    return run({"-rm", "/bin/sh", "-c",
                "mount -t tmpfs -o nr_inodes=" + std::to_string(inodes) +
                    " none full || exit 99\n" + script},
               shell);
  }
  static constexpr const char* kRun = ECKART_PROGRAM " run in -k 2 --backend cpu ";
};

TEST_F(InodeShortageTest, ends_the_run_with_74) {
  int full = 0;
  for (int inodes = 1; inodes < 30; ++inodes) {
    const ProcessResult result = on_few_inodes(inodes, std::string(kRun) + "-o full/out");
    if (result.code == 0) break;
    ++full;
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << inodes << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
  EXPECT_GT(full, 5);
  EXPECT_LT(full, 29);
}

TEST_F(InodeShortageTest, is_reported_for_each_requested_file) {
  for (const char* arguments : {"-o out --report full/r", "-o out --trace full/t"}) {
    const ProcessResult result = on_few_inodes(1, std::string(kRun) + arguments);
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
  for (const char* command : {"synth -o full/s --count 1", "bench scaling in -o full/b --log l"}) {
    const ProcessResult result = on_few_inodes(1, std::string(ECKART_PROGRAM " ") + command);
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
}

TEST_F(InodeShortageTest, is_waited_for_with_wait_for_space) {
  for (int inodes = 1; inodes < 8; ++inodes) {
    const ProcessResult result =
        on_few_inodes(inodes, "mkfifo told; " + std::string(kRun) +
                                  "-o full/out --report full/r --wait-for-space 2> told &\n"
                                  "while read -r line; do echo \"$line\" >&2; case $line in "
                                  "*'waiting for free disk space')\n"
                                  "mount -o remount,nr_inodes=100 full;; esac; done < told\n"
                                  "rm told; wait $!");
    EXPECT_EQ(result.code, 0) << inodes << ": " << result.err;
    EXPECT_EQ(count_occurrences(result.err, "waiting for free disk space"), 1)
        << inodes << ": " << result.err;
  }
}

/// SQLite needs further files to read a ledger that is not open.
TEST_F(InodeShortageTest, allows_status_and_rerun_of_a_finished_run) {
  const ProcessResult result =
      on_few_inodes(100, "mount -o remount,size=600k full; " + std::string(kRun) +
                             "-o full/out || exit 98\n"
                             "dd if=/dev/zero of=full/fill bs=4k 2> none\n" ECKART_PROGRAM
                             " status full/out || exit 97\nmkfifo told\n" +
                             kRun +
                             "-o full/out --wait-for-space 2> told &\n"
                             "while read -r line; do echo \"$line\" >&2; case $line in *'waiting "
                             "for free disk space')\n"
                             "rm -f full/fill;; esac; done < told\n"
                             "wait $!");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 done, 0 failed"));
  EXPECT_EQ(count_occurrences(result.err, "waiting for free disk space"), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 skipped"));
}

TEST_F(InodeShortageTest, allows_reading_a_finished_run) {
  const std::string fill = "i=0; while touch full/f$i; do i=$((i+1)); done 2> none\n";
  std::string script = std::string(kRun) + "-o full/out || exit 98\n" + fill;
  int code = 90;
  for (const std::string& command :
       {std::string(ECKART_PROGRAM " status full/out"), std::string(kRun) + "-o full/out --dry-run",
        std::string(ECKART_PROGRAM " prune full/out"),
        std::string(ECKART_PROGRAM " ledger export full/out > exported")})
    script += command + " || exit " + std::to_string(code++) + "\n";
  const ProcessResult result = on_few_inodes(30, script);
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 done, 0 failed"));
}

using ReadOnlyDiskTest = InodeShortageTest;

TEST_F(ReadOnlyDiskTest, is_not_reported_as_a_missing_file) {
  const ProcessResult result = on_few_inodes(
      100, "mount -o remount,ro full; " + std::string(kRun) + "-o out --ledger full/l.db");
  EXPECT_EQ(result.code, int(ExitCode::cannot_create)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("full/l.db: unable to open database file: Read-only file"));
}

using DurabilityTest = CliTest;

TEST_F(DurabilityTest, does_not_report_an_unsynced_output_as_done) {
  write_png("in/a.png");
  const ProcessResult result = run({"run", "in", "-o", "out", "--backend", "cpu", "--json"},
                                   {.fault = "folder:" + std::to_string(EIO) + ":1:1000000"});
  EXPECT_EQ(result.code, int(ExitCode::io_error));
  EXPECT_THAT(line_containing(result.err, "STOPPED"), HasSubstr("cannot sync out"));
  EXPECT_EQ(nlohmann::json::parse(result.out).at("done"), 0);
}

/// Syncs the entries of the folder, and its entry in the parent folder.
TEST_F(DurabilityTest, syncs_every_new_folder_and_its_parent) {
  const auto syncs = [&](const std::string& out) {
    run({"run", "in", "-o", out, "-k", "2", "--set", "durability=file", "--set", "threads.write=1"},
        {.fault = "folder:0:0:0", .environment = {{"ECKART_FAULT_CALLS", at("calls")}}});
    int calls = 0;
    std::ifstream(at("calls")) >> calls;
    return calls;
  };
  write_png("in/a/a.png");
  const int one = syncs("one");
  for (const char* name : {"in/b/b.png", "in/c/c.png"}) write_png(name);
  EXPECT_EQ(syncs("three"), one + 4);
}

using DescriptorLimitTest = CliTest;

TEST_F(DescriptorLimitTest, allows_a_run_with_few_descriptors) {
  for (int i = 0; i < 40; ++i) write_png("in/" + std::to_string(i) + ".png");
  const ProcessResult result =
      run({"run", "in", "-o", "out", "-k", "1,2,3", "--backend", "cpu"}, {.open_files = 32});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(files("out").size(), 120u);
}

TEST_F(DurabilityTest, syncs_nothing_if_none) {
  write_png("in/a.png");
  const std::string never = "fsync:" + std::to_string(EIO) + ":1:1000000";
  EXPECT_EQ(run({"run", "in", "-o", "out", "--set", "durability=none"}, {.fault = never}).code, 0);
  EXPECT_EQ(files("out").size(), 1u);
}

}  // namespace
}  // namespace eckart::test
