#include <gtest/gtest.h>

#include "ledger/ledger.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

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

}  // namespace
}  // namespace eckart::ledger
