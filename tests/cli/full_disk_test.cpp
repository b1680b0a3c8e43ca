// Whether a disk that is full or broken stops the run, blames no image, and leaves nothing behind.
#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/cli/cli_fixture.hpp"

namespace eckart::test {
namespace {

struct Fault {
  const char* call;
  int error;
  bool for_good;
};

std::ostream& operator<<(std::ostream& out, const Fault& fault) {
  out << fault.call;
  if (fault.error == ENOSPC) return out << "_without_space" << (fault.for_good ? "" : "_once");
  return out << "_with_error_" << fault.error << (fault.for_good ? "" : "_once");
}

std::string name_of(const ::testing::TestParamInfo<Fault>& info) {
  return ::testing::PrintToString(info.param);
}

class FullDisk : public CliTest, public ::testing::WithParamInterface<Fault> {
 protected:
  static constexpr int kImages = 12;

  void SetUp() override {
    for (int i = 0; i < kImages; ++i) write_png("in/" + std::to_string(i) + ".png");
  }
  Finished run_with(const std::string& fault, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"run", "in",        "-o",  "out",   "-k",
                                          "5",   "--backend", "cpu", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run(arguments, {.fault = fault});
  }
};

TEST_P(FullDisk, stops_the_run_and_leaves_only_what_is_whole) {
  const Fault& fault = GetParam();
  const Finished stopped = run_with(std::string(fault.call) + ":" + std::to_string(fault.error) +
                                    ":5:" + (fault.for_good ? "1000000" : "1"));
  EXPECT_EQ(stopped.code, int(ExitCode::io_error)) << stopped.err;
  const std::string why = std::strerror(fault.error);
  EXPECT_EQ(count_of(stopped.err, why + ": stopped"), 1) << stopped.err;
  EXPECT_THAT(line_with(stopped.err, "STOPPED"), HasSubstr("cannot write out/"));
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

INSTANTIATE_TEST_SUITE_P(Of, FullDisk,
                         ::testing::Values(Fault{"open", ENOSPC, true}, Fault{"open", EMFILE, true},
                                           Fault{"write", ENOSPC, true},
                                           Fault{"write", EDQUOT, true}, Fault{"write", EIO, false},
                                           Fault{"fsync", EIO, false}, Fault{"fsync", ENOSPC, true},
                                           Fault{"fsync", EUCLEAN, true},
                                           Fault{"close", ETIMEDOUT, false},
                                           Fault{"close", EIO, true}, Fault{"close", ENOSPC, false},
                                           Fault{"rename", ENOSPC, true},
                                           Fault{"rename", EIO, false}),
                         name_of);

/// When `call` fails a few times, and then no more.
class FullDiskForAWhile : public FullDisk {};

TEST_P(FullDiskForAWhile, is_waited_out_where_that_is_wished) {
  const int error = GetParam().error;
  const Finished result = run_with(
      std::string(GetParam().call) + ":" + std::to_string(error) + ":5:6", {"--wait-for-space"});
  EXPECT_EQ(result.code, 0) << result.err;
  const int waits = count_of(result.err, std::strerror(error) + std::string(": waiting for space"));
  EXPECT_GE(waits, 1);
  EXPECT_EQ(count_of(result.err, "there is space again"), waits);
  EXPECT_EQ(files("out").size(), kImages);
}

INSTANTIATE_TEST_SUITE_P(
    Of, FullDiskForAWhile,
    ::testing::Values(Fault{"write", ENOSPC, true}, Fault{"write", EDQUOT, true},
                      Fault{"fsync", ENOSPC, true}, Fault{"close", ENOSPC, true},
                      Fault{"close", EDQUOT, true}, Fault{"rename", ENOSPC, true}),
    name_of);

/// Whichever of the calls that change the ledger it is that fails.
TEST_F(CliTest, what_the_ledger_had_no_space_for_is_recorded_when_there_is) {
  for (int i = 0; i < 6; ++i) write_png("in/" + std::to_string(i) + ".png");
  int waits = 0;
  for (int call = 1;; call += kSanitized ? 11 : 5) {
    SCOPED_TRACE(::testing::Message() << "call " << call);
    fs::remove_all(at("out"));
    const Finished result =
        run({"run", "in", "-o", "out", "-k", "2", "--wait-for-space", "--set", "durability=file"},
            {.fault = "ledger:" + std::to_string(ENOSPC) + ":" + std::to_string(call) + ":2"});
    if (result.code == int(ExitCode::io_error)) {  // SQLite does not say why it could not sync
      EXPECT_THAT(result.err, HasSubstr("ledger.db: disk I/O error"));
      EXPECT_EQ(run({"run", "in", "-o", "out", "-k", "2"}).code, 0);
    } else {
      ASSERT_EQ(result.code, 0) << result.err;
    }
    const bool waited = result.err.find("waiting for space") != result.err.npos;
    waits += waited;
    EXPECT_THAT(run({"status", "out"}).out, HasSubstr("6 done, 0 failed"));
    if (!waited && call > 30) break;
  }
  EXPECT_GT(waits, 4);
}

TEST_F(CliTest, a_disk_that_is_full_or_broken_from_the_start_is_not_the_folders_fault) {
  write_png("in/a.png");
  for (const char* call : {"open", "mkdir", "ledger"}) {
    for (const int error : {ENOSPC, EIO}) {
      fs::remove_all(at("out"));
      const Finished result =
          run({"run", "in", "-o", "out", "--backend", "cpu"},
              {.fault = std::string(call) + ":" + std::to_string(error) + ":1:1000000"});
      EXPECT_EQ(result.code, int(ExitCode::io_error)) << call << " " << result.err;
      const bool of_ledger = call == std::string_view("ledger");
      EXPECT_THAT(result.err, HasSubstr(of_ledger ? "ledger.db: " : std::strerror(error)));
    }
  }
}

TEST_F(CliTest, a_disk_that_is_full_from_the_start_is_waited_out_where_that_is_wished) {
  write_png("in/a.png");
  const Finished result = run({"run", "in", "-o", "out", "-k", "2", "--wait-for-space"},
                              {.fault = "any:" + std::to_string(ENOSPC) + ":1:2"});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(count_of(result.err, "waiting for space"), 1);
  EXPECT_THAT(files("out"), ElementsAre("a.png"));
}

/// A file system of a few inodes, in a namespace of its own, mounted at `full`; `script` goes on.
class FewInodes : public CliTest {
 protected:
  void SetUp() override {
    write_png("in/a.png");
    fs::create_directory(at("full"));
    if (on_few_inodes(10, ":").code != 0) GTEST_SKIP() << "no mounts may be made here";
  }
  Finished on_few_inodes(int inodes, const std::string& script) {
    Program::Options shell;
    shell.program = "/usr/bin/unshare";
    return run({"-rm", "/bin/sh", "-c",
                "mount -t tmpfs -o nr_inodes=" + std::to_string(inodes) +
                    " none full || exit 99\n" + script},
               shell);
  }
  static constexpr const char* kRun = ECKART_PROGRAM " run in -k 2 --backend cpu ";
};

TEST_F(FewInodes, are_no_fault_of_a_folder_and_end_with_74) {
  int full = 0;
  for (int inodes = 1; inodes < 30; ++inodes) {
    const Finished result = on_few_inodes(inodes, std::string(kRun) + "-o full/out");
    if (result.code == 0) break;
    ++full;
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << inodes << ": " << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
  EXPECT_GT(full, 5);
  EXPECT_LT(full, 29);
}

TEST_F(FewInodes, are_told_of_each_file_that_is_asked_for) {
  for (const char* arguments : {"-o out --report full/r", "-o out --trace full/t"}) {
    const Finished result = on_few_inodes(1, std::string(kRun) + arguments);
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
  for (const char* command : {"synth -o full/s --count 1", "bench scaling in -o full/b --log l"}) {
    const Finished result = on_few_inodes(1, std::string(ECKART_PROGRAM " ") + command);
    EXPECT_EQ(result.code, int(ExitCode::io_error)) << result.err;
    EXPECT_THAT(result.err, HasSubstr("No space left on device"));
  }
}

TEST_F(FewInodes, are_waited_out_where_that_is_wished) {
  for (int inodes = 1; inodes < 8; ++inodes) {
    const Finished result = on_few_inodes(
        inodes,
        "mkfifo told; " + std::string(kRun) +
            "-o full/out --report full/r --wait-for-space 2> told &\n"
            "while read -r line; do echo \"$line\" >&2; case $line in *'waiting for space')\n"
            "mount -o remount,nr_inodes=100 full;; esac; done < told\n"
            "rm told; wait $!");
    EXPECT_EQ(result.code, 0) << inodes << ": " << result.err;
    EXPECT_EQ(count_of(result.err, "waiting for space"), 1) << inodes << ": " << result.err;
  }
}

/// A ledger that is not open needs files beside it to be read.
TEST_F(FewInodes, nor_blocks_keep_a_finished_run_from_being_looked_at_or_repeated) {
  const Finished result = on_few_inodes(
      100, "mount -o remount,size=600k full; " + std::string(kRun) +
               "-o full/out || exit 98\n"
               "dd if=/dev/zero of=full/fill bs=4k 2> none\n" ECKART_PROGRAM
               " status full/out || exit 97\nmkfifo told\n" +
               kRun +
               "-o full/out --wait-for-space 2> told &\n"
               "while read -r line; do echo \"$line\" >&2; case $line in *'waiting for space')\n"
               "rm -f full/fill;; esac; done < told\n"
               "wait $!");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("1 done, 0 failed"));
  EXPECT_EQ(count_of(result.err, "waiting for space"), 1) << result.err;
  EXPECT_THAT(result.err, HasSubstr("1 skipped"));
}

TEST_F(FewInodes, nor_a_disk_that_is_read_only_are_taken_for_a_missing_file) {
  const Finished result = on_few_inodes(
      100, "mount -o remount,ro full; " + std::string(kRun) + "-o out --ledger full/l.db");
  EXPECT_EQ(result.code, int(ExitCode::cannot_create)) << result.err;
  EXPECT_THAT(result.err, HasSubstr("full/l.db: unable to open database file: Read-only file"));
}

TEST_F(CliTest, what_may_not_survive_a_power_cut_is_not_called_done) {
  write_png("in/a.png");
  const Finished result = run({"run", "in", "-o", "out", "--backend", "cpu", "--json"},
                              {.fault = "folder:" + std::to_string(EIO) + ":1:1000000"});
  EXPECT_EQ(result.code, int(ExitCode::io_error));
  EXPECT_THAT(line_with(result.err, "STOPPED"), HasSubstr("cannot sync out"));
  EXPECT_EQ(nlohmann::json::parse(result.out).at("done"), 0);
}

/// Its own entries, and its entry in the folder above.
TEST_F(CliTest, every_new_folder_is_brought_to_the_disk_with_the_one_above) {
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

TEST_F(CliTest, few_descriptors_are_enough) {
  for (int i = 0; i < 40; ++i) write_png("in/" + std::to_string(i) + ".png");
  const Finished result =
      run({"run", "in", "-o", "out", "-k", "1,2,3", "--backend", "cpu"}, {.open_files = 32});
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(files("out").size(), 120u);
}

TEST_F(CliTest, nothing_is_brought_to_the_disk_where_that_is_not_wished) {
  write_png("in/a.png");
  const std::string never = "fsync:" + std::to_string(EIO) + ":1:1000000";
  EXPECT_EQ(run({"run", "in", "-o", "out", "--set", "durability=none"}, {.fault = never}).code, 0);
  EXPECT_EQ(files("out").size(), 1u);
}

}  // namespace
}  // namespace eckart::test
