#include "ledger/ledger.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <latch>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

#include "core/error.hpp"
#include "ledger/ledger_tables.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/waiting_thread.hpp"

namespace {

std::atomic<int> syncs{0};

}  // namespace

// Replaces the functions that SQLite calls, to count the calls.
extern "C" int fsync(int descriptor) {
  ++syncs;
  return int(::syscall(SYS_fsync, descriptor));
}
extern "C" int fdatasync(int descriptor) {
  ++syncs;
  return int(::syscall(SYS_fdatasync, descriptor));
}

namespace eckart::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / ".eckart" / "ledger.db"; }
  /// Opens the ledger and collects all its warnings in warnings_.
  Ledger open_with_warnings() {
    return Ledger(file(), {.warn = [this](const std::string& text) { warnings_ += text + '\n'; }});
  }
  std::string warnings_;

 private:
  const test::TempFolder folder_;
};

const OutputEntry kDone{.output = "deep/a\n\xff.png",
                        .input = "/in/a\n\xff.png",
                        .settings = 0xfedcba9876543210,
                        .state = {123, 1700000000123456789, 42},
                        .bytes = 456};
const FailureEntry kFailed{.input = "/in/b.png",
                           .state = {1, 2, 3},
                           .reason = FailureReason::corrupt,
                           .detail = "ends early"};

TEST_F(LedgerTest, persists_records) {
  Ledger(file()).record({{kDone}, {kFailed}, {}});
  Ledger again = open_with_warnings();
  EXPECT_EQ(warnings_, "");
  const auto done = again.find(kDone.output);
  ASSERT_TRUE(done);
  EXPECT_EQ(done->input, kDone.input);
  EXPECT_EQ(done->settings, kDone.settings);
  EXPECT_EQ(done->state, kDone.state);
  EXPECT_EQ(done->bytes, 456);
  EXPECT_EQ(done->run, 0);
  const auto failed = again.find_failure(kFailed.input);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->state, kFailed.state);
  EXPECT_EQ(failed->reason, FailureReason::corrupt);
  EXPECT_EQ(failed->detail, "ends early");
  EXPECT_FALSE(again.find("other.png"));
  EXPECT_FALSE(again.find_failure(kDone.input));
}

TEST_F(LedgerTest, keeps_the_last_record_of_an_output) {
  Ledger ledger(file());
  OutputEntry entry = kDone;
  ledger.record({{entry}, {}, {}});
  entry.input = "/in/other.png", entry.settings = 8;
  ledger.record({{entry}, {}, {}});
  EXPECT_EQ(ledger.find(entry.output)->input, "/in/other.png");
  EXPECT_EQ(ledger.find(entry.output)->settings, 8U);
  EXPECT_EQ(ledger.count_inputs().done, 1);
}

TEST_F(LedgerTest, does_not_confuse_reports_and_content_hashes) {
  Ledger ledger(file());
  OutputEntry first = kDone, second = kDone;
  first.report = "{}";
  first.content_hash = std::string(32, 'c');
  second.output = "second.png";
  second.report.clear();
  second.content_hash.clear();
  ledger.record({{first, second}, {}, {}});
  EXPECT_EQ(ledger.find("second.png")->report, "");
  EXPECT_EQ(ledger.find("second.png")->content_hash, "");
}

TEST_F(LedgerTest, keeps_the_last_outcome_of_an_input) {
  Ledger ledger(file());
  FailureEntry failure = kFailed;
  failure.input = kDone.input;
  ledger.record({{kDone}, {}, {}});
  ledger.record({{}, {failure}, {}});
  EXPECT_EQ(ledger.count_inputs().done, 0) << "it has changed since, and failed";
  EXPECT_EQ(ledger.count_inputs().failed, 1);
  ledger.record({{kDone}, {}, {}});
  EXPECT_EQ(ledger.count_inputs().done, 1);
  EXPECT_EQ(ledger.count_inputs().failed, 0);
}

/// The first output was done before, and only the second failed.
TEST_F(LedgerTest, clears_the_failure_of_an_input_with_any_of_its_outputs) {
  Ledger ledger(file());
  FailureEntry failure = kFailed;
  failure.input = kDone.input;
  OutputEntry second = kDone;
  second.output_index = 1;
  ledger.record({{}, {failure}, {}});
  ledger.record_suspects(std::vector<Suspect>{{kDone.input, kDone.state, 1}});
  ledger.record({{second}, {}, {}});
  EXPECT_EQ(ledger.count_inputs().failed, 0);
  EXPECT_TRUE(ledger.suspects().empty());
}

TEST_F(LedgerTest, counts_and_lists_failures) {
  Ledger ledger(file());
  FailureEntry other = kFailed;
  other.input = "/in/a.png", other.reason = FailureReason::too_large;
  OutputEntry second = kDone;
  second.output = "deep/a.k2.png", second.output_index = 1;
  ledger.record({{kDone, second}, {kFailed, other}, {}});
  const InputCounts counts = ledger.count_inputs();
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.failures[std::size_t(FailureReason::corrupt)], 1);
  EXPECT_EQ(counts.failures[std::size_t(FailureReason::too_large)], 1);
  ASSERT_EQ(ledger.failures(10).size(), 2U);
  EXPECT_EQ(ledger.failures(10)[0].input, "/in/a.png");
  EXPECT_EQ(ledger.failures(1).size(), 1U);
}

TEST_F(LedgerTest, restores_every_reason) {
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    FailureEntry failure = kFailed;
    failure.reason = FailureReason(reason);
    Ledger ledger(file());
    ledger.record({{}, {failure}, {}});
    EXPECT_EQ(ledger.find_failure(failure.input)->reason, FailureReason(reason));
  }
}

TEST_F(LedgerTest, keeps_suspects_until_they_are_done) {
  const std::vector<Suspect> lost{{kDone.input, kDone.state, 1}, {"/in/c.png", {4, 5, 6}, 2}};
  Ledger(file()).record_suspects(lost);
  Ledger ledger(file());
  ASSERT_EQ(ledger.suspects().size(), 2U);
  ledger.record({{kDone}, {}, {}});
  ASSERT_EQ(ledger.suspects().size(), 1U);
  EXPECT_EQ(ledger.suspects()[0].input, "/in/c.png");
  EXPECT_EQ(ledger.suspects()[0].state, (files::FileState{4, 5, 6}));
  EXPECT_EQ(ledger.suspects()[0].losses, 2);
  ledger.clear_suspects();
  EXPECT_TRUE(ledger.suspects().empty());
}

/// A process that loses the GPU again must read them, even if the machine crashed in between.
TEST_F(LedgerTest, syncs_suspects_and_requests_before_it_returns) {
  for (const bool durable : {true, false}) {
    Ledger ledger(file(), {.durable = durable});
    const auto count_syncs = [&](auto write) {
      const int before = syncs;
      write();
      return syncs - before;
    };
    const std::vector<Suspect> lost{{kDone.input, kDone.state, 1}};
    EXPECT_GT(count_syncs([&] { ledger.record_suspects(lost); }), 0);
    EXPECT_GT(count_syncs([&] { ledger.record_request({"", {}, "", {}}); }), 0);
    const int row_syncs = count_syncs([&] { ledger.record({{kDone}, {}, {}}); });
    EXPECT_TRUE(durable || row_syncs == 0) << row_syncs;
  }
}

TEST_F(LedgerTest, restores_the_last_request) {
  EXPECT_FALSE(Ledger(file()).request());
  Ledger(file()).record_request({"rank: 1\n", {"/old"}, "list"});
  Ledger(file()).record_request({"rank: 2\n", {"/b\n\xff", "/a"}, ""});
  const auto request = Ledger::open_read_only(file())->request();
  ASSERT_TRUE(request);
  EXPECT_EQ(request->settings, "rank: 2\n");
  EXPECT_EQ(request->inputs, (std::vector<std::string>{"/b\n\xff", "/a"}));
  EXPECT_EQ(request->files_from, "");
}

TEST_F(LedgerTest, numbers_its_runs) {
  Ledger ledger(file());
  ledger.record_request({"", {}, ""});
  ledger.record({{kDone}, {}, {}});
  EXPECT_EQ(ledger.find(kDone.output)->run, 1);
  ledger.record_request({"", {}, ""});
  EXPECT_EQ(Ledger::open_read_only(file())->run(), 2);
  ledger.record({{kDone}, {}, {}});
  EXPECT_EQ(ledger.find(kDone.output)->run, 2);
}

TEST_F(LedgerTest, clears_failures_and_suspects) {
  Ledger ledger(file());
  ledger.record({{}, {kFailed}, {}});
  ledger.record_suspects(std::vector<Suspect>{{kFailed.input, {}, 1}});
  ledger.record({{}, {}, {kFailed.input}});
  EXPECT_EQ(ledger.count_inputs().failed, 0);
  EXPECT_TRUE(ledger.suspects().empty());
}

TEST_F(LedgerTest, renames_a_damaged_file) {
  std::filesystem::create_directories(file().parent_path());
  for (int number = 1; number <= 2; ++number) {
    std::ofstream(file()) << "no database, but long enough to be read as if it might be one: " +
                                 std::string(4096, 'x');
    Ledger ledger = open_with_warnings();
    const std::string damaged_name = "ledger.db.damaged-" + std::to_string(number);
    EXPECT_THAT(warnings_, HasSubstr(damaged_name));
    EXPECT_TRUE(std::filesystem::exists(file().parent_path() / damaged_name));
    ledger.record({{kDone}, {}, {}});
    EXPECT_TRUE(ledger.find(kDone.output));
  }
}

/// The ledger has thousands of rows, so that damage behind the first page is found only when a row
/// there is read.
class LedgerWithCorruptPageTest : public LedgerTest, public ::testing::WithParamInterface<int> {
 protected:
  static std::string output_name(int number) { return "deep/" + std::to_string(number) + ".png"; }
  void SetUp() override {
    Ledger ledger(file());
    ledger.record_request({"rank: 3", {"/in"}, ""});
    LedgerChanges changes;
    for (int i = 0; i < kRows; ++i) {
      changes.done.push_back(kDone);
      changes.done.back().output = output_name(i);
    }
    ledger.record(changes);
  }
  void damage_page(int page) {
    constexpr std::streamoff kPage = 4096;
    std::fstream stream(file(), std::ios::in | std::ios::out | std::ios::binary);
    stream.seekp(page * kPage) << std::string(kPage, char(0xa5));
  }

  static constexpr int kRows = 4000;
};

TEST_P(LedgerWithCorruptPageTest, is_renamed_on_detection) {
  damage_page(GetParam());
  Ledger ledger = open_with_warnings();
  ledger.record_request({"rank: 5", {"/in"}, ""});
  int found = 0;
  for (int i = 0; i < kRows; ++i) found += ledger.find(output_name(i)).has_value();
  EXPECT_LT(found, kRows);
  EXPECT_THAT(warnings_, HasSubstr("renamed to ledger.db.damaged-1"));
  ledger.record({{kDone}, {kFailed}, {}});
  EXPECT_TRUE(ledger.find(kDone.output));
  EXPECT_EQ(ledger.count_inputs().failed, 1);
  EXPECT_EQ(ledger.request()->settings, "rank: 5");
  EXPECT_EQ(ledger.find(kDone.output)->run, ledger.run());
  EXPECT_THAT(warnings_, Not(HasSubstr("damaged-2")));
}

TEST_P(LedgerWithCorruptPageTest, is_reported_to_readers) {
  damage_page(GetParam());
  try {
    const auto ledger = Ledger::open_read_only(file());
    for (int i = 0; i < kRows; ++i) ledger->find(output_name(i));
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::nothing_readable);
    EXPECT_THAT(error.what(), HasSubstr("The next run renames it"));
  }
}

INSTANTIATE_TEST_SUITE_P(Page, LedgerWithCorruptPageTest, ::testing::Values(1, 10, 20, 30));

TEST_F(LedgerTest, counts_outputs_by_the_settings_that_made_them) {
  const std::string rank_2 = "png, rank 2", rank_3 = "png, rank 3";
  Ledger ledger(file());
  ledger.record_request(
      {.settings = "", .inputs = {}, .files_from = "", .output_settings = {rank_2, rank_3}});
  for (const auto& [output, text] : std::map<std::string, std::string>{
           {"a", rank_2}, {"b", rank_3}, {"c", rank_3}, {"d", "of an old version"}}) {
    OutputEntry entry = kDone;
    entry.output = output, entry.settings = settings_hash(text);
    ledger.record({{entry}, {}, {}});
  }
  const auto counts = ledger.count_by_settings();
  ASSERT_EQ(counts.size(), 3U);
  EXPECT_EQ(counts[0].outputs, 2);
  EXPECT_EQ(counts[0].text, rank_3);
  EXPECT_EQ(ledger.settings_text(settings_hash(rank_2)), rank_2);
  EXPECT_EQ(ledger.settings_text(settings_hash("of an old version")), "");
}

TEST_F(LedgerTest, restores_output_settings) {
  Ledger(file()).record_request(
      {.settings = "rank: 2", .inputs = {}, .files_from = "", .output_settings = {"rank 2"}});
  EXPECT_THAT(Ledger(file()).request()->output_settings, ElementsAre("rank 2"));
}

TEST_F(LedgerTest, keeps_optional_fields_of_an_output) {
  OutputEntry entry = kDone;
  entry.root_length = 4;
  entry.output_mtime_ns = 5;
  entry.content_hash = std::string(32, '\0');
  entry.report = R"({"psnr_db": 30})";
  Ledger(file()).record({{entry}, {}, {}});
  const auto known = Ledger(file()).find(entry.output);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->input, entry.input);
  EXPECT_EQ(known->root_length, 4U);
  EXPECT_EQ(known->output_mtime_ns, 5);
  EXPECT_EQ(known->content_hash, entry.content_hash);
  EXPECT_EQ(known->report, entry.report);
}

TEST_F(LedgerTest, keeps_intents_beside_done_outputs) {
  Ledger ledger(file());
  ledger.record({{}, {kFailed}, {}});
  OutputEntry entry = kDone;
  entry.input = kFailed.input;
  const auto record_intent = [&] {
    ledger.record({.done = {}, .failed = {}, .cleared = {}, .intents = {entry}});
  };
  const auto intent = [&] {
    return ledger.find_intent({entry.output, entry.bytes, entry.output_mtime_ns});
  };
  record_intent();
  EXPECT_FALSE(ledger.find(entry.output));
  EXPECT_EQ(intent()->input, entry.input);
  EXPECT_EQ(ledger.count_inputs().done, 0);
  EXPECT_EQ(ledger.count_inputs().failed, 1) << "it may still fail";
  EXPECT_TRUE(ledger.entries_after("", 10).empty());
  ledger.record({{entry}, {}, {}});
  EXPECT_FALSE(intent());
  EXPECT_EQ(ledger.count_inputs().done, 1);
  EXPECT_EQ(ledger.count_inputs().failed, 0);
  entry.bytes += 1;
  record_intent();
  ledger.remove_outputs([&] { return std::vector{entry.output}; });
  EXPECT_FALSE(ledger.find(entry.output));
  ++entry.output_mtime_ns;
  record_intent();
  EXPECT_TRUE(intent());
  ledger.record({.done = {},
                 .failed = {},
                 .cleared = {},
                 .abandoned_intents = {{entry.output, entry.bytes, entry.output_mtime_ns}}});
  EXPECT_FALSE(intent());
  --entry.output_mtime_ns;
  EXPECT_TRUE(intent()) << "that of another run";
}

/// A mistyped ledger name must not cost a file.
TEST_F(LedgerTest, rejects_files_of_other_programs) {
  const auto other_file = file().parent_path().parent_path() / "notes";
  const auto expect_refused = [&] {
    EXPECT_THROW(Ledger ledger(other_file), FatalError);
    EXPECT_THROW(Ledger::open_read_only(other_file), FatalError);
    EXPECT_FALSE(std::filesystem::exists(other_file.native() + ".damaged-1"));
  };
  std::ofstream(other_file) << "x";
  expect_refused();
  std::filesystem::remove(other_file);
  const std::string sql = "PRAGMA user_version = 2; CREATE TABLE output (a); SELECT 1";
  ASSERT_EQ(
      std::system(("sqlite3 '" + other_file.string() + "' '" + sql + "' > /dev/null").c_str()), 0);
  expect_refused();
  std::filesystem::remove(other_file);
  Ledger(other_file).record({{kDone}, {}, {}});
  EXPECT_TRUE(Ledger(other_file).find(kDone.output));
}

TEST_F(LedgerTest, warns_about_an_empty_file) {
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(file()) << "";
  open_with_warnings();
  EXPECT_THAT(warnings_, HasSubstr("was empty"));
}

/// Otherwise the second process would find the file that the first is creating.
TEST_F(LedgerTest, is_not_reported_empty_if_created_by_two_processes_at_once) {
  constexpr int kLedgers = 40;
  std::mutex mutex;
  std::string warnings;
  const auto warn = [&](const std::string& text) {
    const std::lock_guard lock(mutex);
    warnings += text;
  };
  for (int number = 0; number < kLedgers; ++number) {
    std::latch start(2);
    const auto shared = file().parent_path() / (std::to_string(number) + ".db");
    std::vector<std::jthread> runs;
    for (int i = 0; i < 2; ++i) {
      runs.emplace_back([&, i] {
        start.arrive_and_wait();
        Ledger ledger(shared, {.warn = warn});
        OutputEntry entry = kDone;
        entry.output = std::to_string(i);
        ledger.record({{entry}, {}, {}});
      });
    }
    runs.clear();
    EXPECT_EQ(Ledger(shared).count_inputs().done, 1) << "one input, two outputs";
    EXPECT_TRUE(Ledger(shared).find("0") && Ledger(shared).find("1"));
  }
  EXPECT_EQ(warnings, "");
}

TEST_F(LedgerTest, reports_a_file_removed_while_open) {
  Ledger ledger(file());
  EXPECT_NO_THROW(ledger.check_not_replaced());
  std::filesystem::remove(file());
  EXPECT_THROW(ledger.check_not_replaced(), EnvironmentError);
}

TEST_F(LedgerTest, pages_through_outputs_and_removes_some) {
  Ledger ledger(file());
  for (const char* name : {"c", "a", "b"}) {
    OutputEntry entry = kDone;
    entry.output = name;
    ledger.record({{entry}, {}, {}});
  }
  EXPECT_THAT(ledger.outputs_after("", 2), ElementsAre("a", "b"));
  EXPECT_THAT(ledger.outputs_after("b", 2), ElementsAre("c"));
  EXPECT_THAT(ledger.outputs_after("c", 2), IsEmpty());
  ledger.remove_outputs([] { return std::vector<std::string>{"a", "c", "none"}; });
  EXPECT_THAT(ledger.outputs_after("", 3), ElementsAre("b"));
}

TEST_F(LedgerTest, checks_replacement_without_waiting) {
  Ledger ledger(file());
  ledger.remove_outputs([&] {  // nothing can be recorded now
    std::jthread([&] { EXPECT_NO_THROW(ledger.check_not_replaced()); }).join();
    return std::vector<std::string>();
  });
}

/// flock(1) locks a folder around a command that cron starts.
TEST_F(LedgerTest, ignores_a_folder_lock_when_it_exists) {
  Ledger(file()).record({{kDone}, {}, {}});
  const int folder = ::open(file().parent_path().c_str(), O_RDONLY | O_CLOEXEC);
  ASSERT_EQ(::flock(folder, LOCK_EX), 0);
  Ledger ledger(file(), {.timeout = std::chrono::hours(1)});
  EXPECT_TRUE(ledger.find(kDone.output));
  ::close(folder);
}

TEST_F(LedgerTest, numbers_runs_of_all_processes) {
  Ledger first(file()), second(file());
  second.record_request({});
  EXPECT_EQ(second.run(), 1);
  Ledger third(file());
  third.record_request({});
  EXPECT_EQ(third.run(), 2);
  first.record_request({});
  EXPECT_EQ(first.run(), 3);
}

TEST_F(LedgerTest, renames_the_damaged_file_not_its_link) {
  const auto link = file().parent_path().parent_path() / "link.db";
  { Ledger ledger(file()); }
  std::filesystem::create_symlink(file(), link);
  std::ofstream(file(), std::ios::in | std::ios::binary).seekp(100) << std::string(20000, 'x');
  Ledger(link).record({{kDone}, {}, {}});
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_TRUE(std::filesystem::exists(file().native() + ".damaged-1"));
  EXPECT_TRUE(Ledger(file()).find(kDone.output));
}

/// The output folder is on a slow disk and its ledger on a faster one.
TEST_F(LedgerTest, renames_a_damaged_file_behind_a_link_in_the_state_folder) {
  const auto target = file().parent_path().parent_path() / "fast.db";
  std::filesystem::create_directories(file().parent_path());
  std::ofstream(target) << std::string(5000, 'x');
  std::filesystem::create_symlink(target, file());
  EXPECT_THROW(Ledger::open_read_only(file()), FatalError);
  open_with_warnings().record({{kDone}, {}, {}});
  EXPECT_THAT(warnings_, HasSubstr("fast.db.damaged-1"));
  EXPECT_TRUE(std::filesystem::is_symlink(file()));
  EXPECT_TRUE(Ledger(file()).find(kDone.output));
}

TEST_F(LedgerTest, waits_for_a_lock) {
  Ledger ledger(file(), {.timeout = std::chrono::hours(1)});
  LedgerTables another(file(), OpenMode::read_write, {});
  std::optional<test::WaitingThread> waiting;
  another.transaction(false, [&] {
    waiting.emplace([&] { ledger.record({{kDone}, {}, {}}); });
    EXPECT_TRUE(waiting->wait_until_asleep());
  });
  waiting.reset();
  EXPECT_TRUE(ledger.find(kDone.output));
}

TEST_F(LedgerTest, stops_waiting_for_a_lock_after_the_timeout) {
  Ledger ledger(file(), {.timeout = std::chrono::milliseconds(20)});
  LedgerTables another(file(), OpenMode::read_write, {});
  another.transaction(false, [&] {
    try {
      ledger.record({{kDone}, {}, {}});
      FAIL();
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::temporary);
      EXPECT_THAT(error.what(), HasSubstr("locked"));
    }
  });
  ledger.record({{kDone}, {}, {}});
  EXPECT_TRUE(ledger.find(kDone.output));
}

TEST_F(LedgerTest, reports_why_it_cannot_be_created) {
  try {
    Ledger ledger("/proc/none/ledger.db");
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("/proc/none/ledger.db"));
  }
}

TEST_F(LedgerTest, reports_why_its_path_cannot_be_looked_up) {
  const auto error_code = [](const std::filesystem::path& path) {
    try {
      Ledger ledger(path);
      ADD_FAILURE() << "was opened";
    } catch (const FatalError& error) {
      return error.code();
    } catch (const std::exception& error) {
      ADD_FAILURE() << error.what();
    }
    return ExitCode::internal;
  };
  const std::string long_name(300, 'x');
  std::filesystem::create_directories(file().parent_path());
  EXPECT_EQ(error_code(file().parent_path() / long_name), ExitCode::cannot_create);
  std::filesystem::permissions(file().parent_path().parent_path(), std::filesystem::perms::all);
  std::filesystem::permissions(file().parent_path(), std::filesystem::perms::none);
  const bool is_unprivileged = ::geteuid() != 0 || ::seteuid(65534) == 0;
  if (is_unprivileged) {
    EXPECT_EQ(error_code(file()), ExitCode::no_permission);
    try {
      Ledger::open_read_only(file());
      ADD_FAILURE() << "it counts as none";
    } catch (const FatalError& error) {
      EXPECT_EQ(error.code(), ExitCode::no_permission);
    }
  }
  ASSERT_EQ(::seteuid(::getuid()), 0);
  std::filesystem::permissions(file().parent_path(), std::filesystem::perms::owner_all);
}

TEST_F(LedgerTest, treats_special_names_of_sqlite_as_files) {
  const auto current = std::filesystem::current_path();
  std::filesystem::create_directories(file().parent_path());
  std::filesystem::current_path(file().parent_path());
  for (const char* name : {":memory:", "file:y.db", "file:z.db?mode=memory", "file::memory:"}) {
    SCOPED_TRACE(name);
    Ledger(name).record({{kDone}, {}, {}});
    EXPECT_TRUE(std::filesystem::exists(name));
    EXPECT_TRUE(Ledger(name).find(kDone.output));
    const auto reader = Ledger::open_read_only(name);
    EXPECT_TRUE(reader && reader->find(kDone.output));
  }
  std::filesystem::current_path(current);
}

TEST_F(LedgerTest, can_be_read_while_written) {
  EXPECT_EQ(Ledger::open_read_only(file()), nullptr);
  Ledger ledger(file());
  ledger.record({{kDone}, {}, {}});
  EXPECT_EQ(Ledger::open_read_only(file())->count_inputs().done, 1);
}

TEST_F(LedgerTest, is_shared_by_threads) {
  constexpr int kThreads = 4, kEach = 200;
  Ledger ledger(file());
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        OutputEntry entry = kDone;
        entry.output = std::to_string(t) + "/" + std::to_string(i);
        entry.input = "/in/" + entry.output;
        ledger.record({{entry}, {}, {}});
        EXPECT_TRUE(ledger.find(entry.output));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(ledger.count_inputs().done, kThreads * kEach);
}

}  // namespace
}  // namespace eckart::ledger
