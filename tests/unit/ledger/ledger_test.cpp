#include "ledger/ledger.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

#include "core/error.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::ledger {
namespace {

using ::testing::HasSubstr;

class LedgerTest : public ::testing::Test {
 protected:
  std::filesystem::path file() const { return folder_.path() / "state" / "ledger.db"; }

 private:
  const test::TempFolder folder_;
};

const Entry kDone{.output = "/out/a\n\xff.png",
                  .input = "/in/a\n\xff.png",
                  .settings = 0xfedcba9876543210,
                  .state = {123, 1700000000123456789, 42},
                  .done = true,
                  .bytes = 456};
const Entry kFailed{.output = "/out/b.png",
                    .input = "/in/b.png",
                    .settings = 7,
                    .state = {1, 2, 3},
                    .reason = Reason::corrupt,
                    .detail = "ends early"};

TEST_F(LedgerTest, knows_what_was_recorded_when_it_is_opened_again) {
  Ledger(file()).record(std::vector{kDone, kFailed});
  Ledger again(file());
  EXPECT_EQ(again.warning(), "");
  const auto done = again.find(kDone.output);
  ASSERT_TRUE(done);
  EXPECT_TRUE(done->done);
  EXPECT_EQ(done->input, kDone.input);
  EXPECT_EQ(done->settings, kDone.settings);
  EXPECT_EQ(done->state, kDone.state);
  EXPECT_EQ(done->bytes, 456);
  const auto failed = again.find(kFailed.output);
  ASSERT_TRUE(failed);
  EXPECT_FALSE(failed->done);
  EXPECT_EQ(failed->reason, Reason::corrupt);
  EXPECT_EQ(failed->detail, "ends early");
  EXPECT_FALSE(again.find("/out/other.png"));
}

TEST_F(LedgerTest, keeps_the_last_that_was_said_of_an_output) {
  Ledger ledger(file());
  Entry entry = kFailed;
  ledger.record(std::vector{entry});
  entry.done = true, entry.input = "/in/other.png", entry.settings = 8;
  ledger.record(std::vector{entry});
  EXPECT_TRUE(ledger.find(entry.output)->done);
  EXPECT_EQ(ledger.find(entry.output)->input, "/in/other.png");
  EXPECT_EQ(ledger.count().done, 1);
  EXPECT_EQ(ledger.count().failed, 0);
}

TEST_F(LedgerTest, counts_by_reason_and_names_what_failed) {
  Ledger ledger(file());
  Entry other = kFailed;
  other.output = "/out/a.png", other.reason = Reason::too_large;
  Entry second = kDone;
  second.output = "/out/a.k2.png", second.part = 1;
  ledger.record(std::vector{kDone, second, kFailed, other});
  const Counts counts = ledger.count();
  EXPECT_EQ(counts.done, 1);
  EXPECT_EQ(counts.failed, 2);
  EXPECT_EQ(counts.failures[std::size_t(Reason::corrupt)], 1);
  EXPECT_EQ(counts.failures[std::size_t(Reason::too_large)], 1);
  ASSERT_EQ(ledger.failed(10).size(), 2U);
  EXPECT_EQ(ledger.failed(10)[0].output, "/out/a.png");
  EXPECT_EQ(ledger.failed(1).size(), 1U);
}

TEST_F(LedgerTest, that_is_damaged_is_set_aside) {
  std::filesystem::create_directories(file().parent_path());
  for (int round = 1; round <= 2; ++round) {
    std::ofstream(file()) << "no database, but long enough to be read as if it might be one: " +
                                 std::string(4096, 'x');
    Ledger ledger(file());
    const std::string aside = "ledger.db.damaged-" + std::to_string(round);
    EXPECT_THAT(ledger.warning(), HasSubstr(aside));
    EXPECT_TRUE(std::filesystem::exists(file().parent_path() / aside));
    ledger.record(std::vector{kDone});
    EXPECT_TRUE(ledger.find(kDone.output));
  }
}

TEST_F(LedgerTest, that_cannot_be_made_says_why) {
  try {
    Ledger ledger("/proc/none/ledger.db");
    FAIL();
  } catch (const FatalError& error) {
    EXPECT_EQ(error.code(), ExitCode::cannot_create);
    EXPECT_THAT(error.what(), HasSubstr("/proc/none/ledger.db"));
  }
}

TEST_F(LedgerTest, can_be_looked_at_while_it_is_written_to) {
  EXPECT_EQ(Ledger::open_to_read(file()), nullptr);
  Ledger ledger(file());
  ledger.record(std::vector{kDone});
  EXPECT_EQ(Ledger::open_to_read(file())->count().done, 1);
}

TEST_F(LedgerTest, is_shared_by_threads) {
  constexpr int kThreads = 4, kEach = 200;
  Ledger ledger(file());
  std::vector<std::jthread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kEach; ++i) {
        Entry entry = kDone;
        entry.output = std::to_string(t) + "/" + std::to_string(i);
        ledger.record(std::vector{entry});
        EXPECT_TRUE(ledger.find(entry.output));
      }
    });
  }
  threads.clear();
  EXPECT_EQ(ledger.count().done, kThreads * kEach);
}

}  // namespace
}  // namespace eckart::ledger
