#include <gmock/gmock.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <thread>

#include "ledger/ledger.hpp"
#include "ledger/ledger_tables.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

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

TEST_F(LedgerTest, restores_the_link_policy_of_a_watch_and_none_of_a_run) {
  for (const std::optional<files::LinkPolicy> links :
       {std::optional(files::LinkPolicy::none), std::optional(files::LinkPolicy::all),
        std::optional<files::LinkPolicy>()}) {
    Ledger(file()).record_request(
        {.settings = "", .inputs = {"/in"}, .files_from = "", .links = links});
    EXPECT_EQ(Ledger::open_read_only(file())->request()->links, links);
  }
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

TEST_F(LedgerTest, restores_output_settings) {
  Ledger(file()).record_request(
      {.settings = "rank: 2", .inputs = {}, .files_from = "", .output_settings = {"rank 2"}});
  EXPECT_THAT(Ledger(file()).request()->output_settings, ElementsAre("rank 2"));
}

/// A long request takes time to copy after it is recorded.
TEST_F(LedgerTest, records_of_other_threads_belong_to_a_run_as_soon_as_it_begins) {
  constexpr int kRuns = 3;
  RequestEntry request;
  request.inputs.assign(100000, "/an/input/of/a/request/with/a/path/that/is/allocated");
  Ledger ledger(file());
  const LedgerTables reader(file(), OpenMode::read_only, {});
  std::atomic<bool> is_done = false;
  std::jthread begin_runs([&] {
    for (int run = 1; run <= kRuns; ++run) ledger.record_request(request);
    is_done = true;
  });
  while (!is_done) {
    const std::int64_t begun = reader.run();
    ledger.record({{kDone}, {}, {}});
    EXPECT_GE(ledger.run(), begun);
    EXPECT_GE(ledger.find(kDone.output)->run, begun);
  }
}

}  // namespace
}  // namespace eckart::ledger
