#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/file.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <latch>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "ledger/ledger_tables.hpp"
#include "tests/support/waiting_thread.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

using ::testing::HasSubstr;

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

TEST_F(LedgerTest, fails_the_calls_of_all_threads_while_it_is_locked) {
  constexpr int kThreads = 16;
  Ledger ledger(file(), {.timeout = std::chrono::milliseconds(20)});
  LedgerTables another(file(), OpenMode::read_write, {});
  std::atomic<int> failed = 0;
  another.transaction(false, [&] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < kThreads; ++t) {
      threads.emplace_back([&] {
        try {
          ledger.record({{kDone}, {}, {}});
        } catch (const FatalError&) {
          ++failed;
        }
      });
    }
  });
  EXPECT_EQ(failed, kThreads);
  ledger.record({{kDone}, {}, {}});
  EXPECT_TRUE(ledger.find(kDone.output));
}

TEST_F(LedgerTest, can_be_read_while_written) {
  EXPECT_EQ(Ledger::open_read_only(file()), nullptr);
  Ledger ledger(file());
  ledger.record({{kDone}, {}, {}});
  EXPECT_EQ(Ledger::open_read_only(file())->count_inputs().done, 1);
}

TEST_F(LedgerTest, is_shared_by_threads) {
  constexpr int kThreads = 16, kEach = 50;
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
