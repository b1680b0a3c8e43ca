#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "ledger/ledger.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

/// Outputs that are published together.
class PublishIntentGroupTest : public LedgerTest {
 protected:
  static OutputEntry make_entry(const std::string& name) {
    return {.output = name + ".png",
            .input = "/in/" + name + ".jpg",
            .settings = 0xfedcba9876543210,
            .output_index = 3,
            .state = {123, -1700000000123456789, 42},
            .bytes = 456,
            .root_length = 4,
            .output_mtime_ns = 1700000000123456789,
            .content_hash = std::string(32, '\xff')};
  }
  static LedgerChanges intents_of(const std::vector<OutputEntry>& entries) {
    return {.done = {}, .failed = {}, .cleared = {}, .intents = entries};
  }
  static std::vector<std::string> names(const std::vector<OutputEntry>& entries) {
    std::vector<std::string> names;
    for (const OutputEntry& entry : entries) names.push_back(entry.output);
    return names;
  }
  /// Executes a statement on a connection that is closed after `then`.
  void execute(const std::string& sql, const std::function<void()>& then) const {
    sqlite3* database = nullptr;
    ASSERT_EQ(sqlite3_open(file().c_str(), &database), SQLITE_OK);
    EXPECT_EQ(sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    then();
    sqlite3_close(database);
  }
  /// The outputs that have intents.
  static std::vector<std::string> names(Ledger& ledger) { return names(ledger.intents()); }

  const std::vector<OutputEntry> entries_{make_entry("c"), make_entry("a"), make_entry("b\n\xff")};
};

TEST_F(PublishIntentGroupTest, keeps_names_of_each_length) {
  std::vector<OutputEntry> entries;
  std::vector<std::string> expected;
  for (const std::size_t length : {1, 127, 128, 129, 255, 256, 4095}) {
    entries.push_back(make_entry(std::string(length, 'x')));
    entries.back().output.resize(length);
    expected.push_back(entries.back().output);
  }
  Ledger ledger(file());
  ledger.record_request({});
  ledger.record(intents_of(entries));
  EXPECT_EQ(names(ledger), expected);
}

TEST_F(PublishIntentGroupTest, keeps_all_fields) {
  Ledger ledger(file());
  ledger.record_request({});
  ledger.record(intents_of(entries_));
  const auto read_only = Ledger::open_read_only(file());
  for (Ledger* reader : {&ledger, read_only.get()}) {
    EXPECT_THAT(names(*reader), ElementsAre("a.png", "b\n\xff.png", "c.png"));
    for (const OutputEntry& entry : entries_) {
      const auto intent = reader->find_intent({entry.output, entry.bytes, entry.output_mtime_ns});
      ASSERT_TRUE(intent);
      EXPECT_EQ(intent->output, entry.output);
      EXPECT_EQ(intent->input, entry.input);
      EXPECT_EQ(intent->settings, entry.settings);
      EXPECT_EQ(intent->output_index, entry.output_index);
      EXPECT_EQ(intent->state, entry.state);
      EXPECT_EQ(intent->bytes, entry.bytes);
      EXPECT_EQ(intent->run, 1);
      EXPECT_EQ(intent->root_length, entry.root_length);
      EXPECT_EQ(intent->output_mtime_ns, entry.output_mtime_ns);
      EXPECT_EQ(intent->content_hash, entry.content_hash);
      EXPECT_FALSE(reader->find_intent({entry.output, entry.bytes + 1, entry.output_mtime_ns}));
      EXPECT_THAT(names(reader->intents(entry.output)), ElementsAre(entry.output));
    }
  }
}

TEST_F(PublishIntentGroupTest, ends_when_all_outputs_are_done) {
  Ledger ledger(file());
  ledger.record(intents_of(entries_));
  ledger.record(intents_of({make_entry("other")}));
  ledger.record({entries_, {}, {}});
  EXPECT_THAT(names(ledger), ElementsAre("other.png"));
  EXPECT_THAT(names(*Ledger::open_read_only(file())), ElementsAre("other.png"));
}

TEST_F(PublishIntentGroupTest, keeps_the_intents_of_outputs_that_are_not_done) {
  Ledger ledger(file());
  ledger.record(intents_of(entries_));
  ledger.record({{entries_[0]}, {}, {}});
  EXPECT_THAT(names(ledger), ElementsAre("a.png", "b\n\xff.png"));
  EXPECT_THAT(names(*Ledger::open_read_only(file())), ElementsAre("a.png", "b\n\xff.png"));
  ledger.record({{entries_[1]}, {}, {}});
  EXPECT_THAT(names(ledger), ElementsAre("b\n\xff.png"));
}

TEST_F(PublishIntentGroupTest, loses_only_the_intents_that_are_abandoned) {
  Ledger ledger(file());
  ledger.record(intents_of(entries_));
  const OutputEntry& first = entries_[0];
  const auto abandon = [&](std::int64_t bytes) {
    ledger.record({.done = {},
                   .failed = {},
                   .cleared = {},
                   .abandoned_intents = {{first.output, bytes, first.output_mtime_ns}}});
  };
  abandon(first.bytes + 1);
  EXPECT_THAT(names(ledger), ElementsAre("a.png", "b\n\xff.png", "c.png"));
  abandon(first.bytes);
  EXPECT_THAT(names(ledger), ElementsAre("a.png", "b\n\xff.png"));
}

TEST_F(PublishIntentGroupTest, survives_its_process) {
  { Ledger(file()).record(intents_of(entries_)); }
  EXPECT_THAT(names(*Ledger::open_read_only(file())), ElementsAre("a.png", "b\n\xff.png", "c.png"));
  Ledger ledger(file());
  EXPECT_THAT(names(ledger), ElementsAre("a.png", "b\n\xff.png", "c.png"));
  OutputEntry again = entries_[1];
  ++again.output_mtime_ns;
  ledger.record(intents_of({again}));
  EXPECT_THAT(ledger.intents(again.output), ::testing::SizeIs(2));
  ledger.record({{again}, {}, {}});
  EXPECT_THAT(names(ledger), ElementsAre("b\n\xff.png", "c.png"));
}

/// The second moves the intents of the first to other rows.
TEST_F(PublishIntentGroupTest, ends_while_another_process_uses_the_ledger) {
  Ledger first(file());
  first.record(intents_of(entries_));
  Ledger second(file());
  second.record(intents_of({make_entry("other")}));
  EXPECT_THAT(names(first), ElementsAre("a.png", "b\n\xff.png", "c.png", "other.png"));
  first.record({entries_, {}, {}});
  EXPECT_THAT(names(second), ElementsAre("other.png"));
  second.record({{make_entry("other")}, {}, {}});
  EXPECT_THAT(names(first), IsEmpty());
}

TEST_F(PublishIntentGroupTest, ends_after_a_transaction_has_failed) {
  Ledger ledger(file(), {.timeout = std::chrono::milliseconds(1)});
  ledger.record(intents_of(entries_));
  execute("BEGIN IMMEDIATE", [&] {
    EXPECT_THROW(ledger.record({entries_, {}, {}}), FatalError);
    EXPECT_THROW(ledger.record(intents_of(entries_)), FatalError);
  });
  EXPECT_THAT(names(ledger), ElementsAre("a.png", "b\n\xff.png", "c.png"));
  ledger.record(intents_of(entries_));
  ledger.record({entries_, {}, {}});
  EXPECT_THAT(names(ledger), IsEmpty());
}

TEST_F(PublishIntentGroupTest, is_recorded_again_when_its_outputs_are_published_again) {
  Ledger ledger(file());
  ledger.record(intents_of(entries_));
  std::vector<OutputEntry> again = entries_;
  for (OutputEntry& entry : again) ++entry.output_mtime_ns;
  ledger.record(intents_of(again));
  EXPECT_THAT(ledger.intents(), ::testing::SizeIs(6));
  ledger.record({again, {}, {}});
  EXPECT_THAT(names(ledger), IsEmpty());
}

TEST_F(PublishIntentGroupTest, is_damage_if_it_cannot_be_read) {
  for (const char* damage : {"x'ff'", "x'05'", "substr(intents, 2)",
                             "substr(intents, 1, length(intents) - 1)", "zeroblob(9)"}) {
    SCOPED_TRACE(damage);
    std::filesystem::remove_all(file().parent_path());
    { Ledger(file()).record(intents_of(entries_)); }
    execute(std::string("UPDATE intent_group SET intents = ") + damage, [] {});
    warnings_.clear();
    Ledger ledger = open_with_warnings();
    ledger.record({{kDone}, {}, {}});
    EXPECT_THAT(warnings_, HasSubstr("renamed to ledger.db.damaged-1"));
    EXPECT_TRUE(ledger.find(kDone.output));
  }
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

}  // namespace
}  // namespace eckart::ledger
