#include "ledger/ledger.hpp"

#include <gmock/gmock.h>

#include <map>

#include "ledger/ledger_tables.hpp"
#include "tests/unit/ledger/ledger_fixture.hpp"

namespace eckart::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

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

TEST_F(LedgerTest, finds_outputs_of_an_earlier_one) {
  const test::TempFolder folder;
  OutputEntry other = kDone;
  other.settings = settings_hash("rank 2");
  {
    Ledger earlier(folder.path() / "earlier.db");
    earlier.record_settings({"rank 2"});
    LedgerChanges changes;
    changes.done.push_back(other);
    earlier.record(changes);
  }
  Ledger ledger(file());
  auto earlier = Ledger::open_unchanging(folder.path() / "earlier.db");
  ASSERT_TRUE(earlier);
  ledger.use_earlier(std::move(earlier), "out/");
  EXPECT_FALSE(ledger.find(kDone.output));
  ASSERT_TRUE(ledger.find("out/" + kDone.output));
  EXPECT_EQ(ledger.find("out/" + kDone.output)->output, "out/" + kDone.output);
  EXPECT_EQ(ledger.settings_text(other.settings), "rank 2");
  EXPECT_EQ(ledger.count_by_settings().size(), 1U);
  OutputEntry own = kDone;
  own.output = "out/" + kDone.output;
  LedgerChanges changes;
  changes.done.push_back(own);
  ledger.record(changes);
  EXPECT_EQ(ledger.find(own.output)->settings, kDone.settings);
  EXPECT_EQ(ledger.count_inputs().done, 1) << "of its own";
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

/// Calls of several threads share a transaction.
TEST_F(LedgerTest, clears_a_failure_of_the_same_transaction) {
  { Ledger ledger(file()); }
  LedgerTables tables(file(), OpenMode::read_write, {});
  const LedgerChanges failed{{}, {kFailed}, {}}, cleared{{}, {}, {kFailed.input}};
  tables.transaction(false, [&] {
    tables.record(PreparedChanges(failed), 1);
    EXPECT_TRUE(tables.find_failure(kFailed.input));
    tables.record(PreparedChanges(cleared), 1);
  });
  EXPECT_FALSE(tables.find_failure(kFailed.input));
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

TEST_F(LedgerTest, clears_failures_and_suspects) {
  Ledger ledger(file());
  ledger.record({{}, {kFailed}, {}});
  ledger.record_suspects(std::vector<Suspect>{{kFailed.input, {}, 1}});
  ledger.record({{}, {}, {kFailed.input}});
  EXPECT_EQ(ledger.count_inputs().failed, 0);
  EXPECT_TRUE(ledger.suspects().empty());
}

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

/// An input is found at its new path by its state, without reading it.
TEST_F(LedgerTest, keeps_the_hash_of_a_moved_input) {
  Ledger ledger(file());
  OutputEntry entry = kDone, moved = kDone;
  entry.content_hash = std::string(32, 'c');
  moved.input = "/in/moved.png";
  ledger.record({{entry}, {}, {}});
  ledger.record({{}, {}, {}, {moved}});
  EXPECT_EQ(ledger.find(entry.output)->input, "/in/moved.png");
  EXPECT_EQ(ledger.find(entry.output)->content_hash, entry.content_hash);
}

TEST_F(LedgerTest, keeps_reports_with_any_keys) {
  std::vector<OutputEntry> entries;
  for (const char* report : {R"({"psnr_db":30,"sizes":[1,2]})", R"({"psnr_db":null,"sizes":[3]})",
                             R"({"psnr_db":30})", R"({"psnr_db": 30})", "no JSON", ""}) {
    OutputEntry& entry = entries.emplace_back(kDone);
    entry.output = std::to_string(entries.size());
    entry.report = report;
  }
  OutputEntry split = kDone;
  split.output = "split";
  split.report_keys = R"("psnr_db","sizes")";
  split.report = "31,[4]";
  entries.push_back(split);
  Ledger(file()).record({entries, {}, {}});
  entries.back().report = R"({"psnr_db":31,"sizes":[4]})";
  const auto ledger = Ledger::open_read_only(file());
  for (const OutputEntry& entry : entries)
    EXPECT_EQ(ledger->find(entry.output)->report, entry.report);
}

TEST_F(LedgerTest, keeps_roots_and_keys_that_a_failed_transaction_had_too) {
  OutputEntry entry = kDone;
  entry.input = "/new/root/a.png";
  entry.root_length = std::string("/new/root/").size();
  entry.report = R"({"a new key":1})";
  const LedgerChanges changes{{entry}, {}, {}};
  const Ledger creates_the_file(file());
  LedgerTables tables(file(), OpenMode::read_write, {});
  const auto record = [&] { tables.record(PreparedChanges(changes), 1); };
  EXPECT_THROW(tables.transaction(false,
                                  [&] {
                                    record();
                                    throw std::runtime_error("on purpose");
                                  }),
               std::runtime_error);
  tables.transaction(false, record);
  const auto known = Ledger::open_read_only(file())->find(entry.output);
  ASSERT_TRUE(known);
  EXPECT_EQ(known->input, entry.input);
  EXPECT_EQ(known->report, entry.report);
}

/// Each field has a value of its own.
TEST_F(LedgerTest, keeps_every_field_of_an_output_and_of_its_new_input) {
  const OutputEntry entry{.output = "a.png",
                          .input = "/in/deep/a.jpg",
                          .settings = 11,
                          .output_index = 12,
                          .state = {13, 14, 15},
                          .bytes = 16,
                          .root_length = 4,
                          .output_mtime_ns = 17,
                          .content_hash = std::string(32, 'h')};
  const OutputEntry moved{.output = "a.png",
                          .input = "/other/b.jpg",
                          .settings = 0,
                          .state = {23, 24, 25},
                          .root_length = 7,
                          .content_hash = std::string(32, 'i')};
  Ledger ledger(file());
  ledger.record({{entry}, {}, {}});
  const auto expect_input = [&](const OutputEntry& input) {
    const std::vector<OutputEntry> found = ledger.entries_after("", 10);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].input, input.input);
    EXPECT_EQ(found[0].root_length, input.root_length);
    EXPECT_EQ(found[0].content_hash, input.content_hash);
    EXPECT_EQ(found[0].settings, 11u);
    EXPECT_EQ(found[0].output_index, 12);
    EXPECT_EQ(found[0].bytes, 16);
    EXPECT_EQ(found[0].output_mtime_ns, 17);
  };
  expect_input(entry);
  EXPECT_EQ(ledger.find("a.png")->state, entry.state);
  ledger.record({.done = {}, .failed = {}, .cleared = {}, .input_updates = {moved}});
  expect_input(moved);
  EXPECT_EQ(ledger.find("a.png")->state, moved.state);
  EXPECT_THAT(ledger.roots(), ::testing::UnorderedElementsAre("/in/", "/other/"));
  ledger.record(
      {.done = {}, .failed = {}, .cleared = {}, .outputs_without_input = {"none.png", "a.png"}});
  EXPECT_EQ(ledger.find("a.png")->state.size, -1) << "no file has this size";
}

TEST_F(LedgerTest, pages_through_entries) {
  Ledger ledger(file());
  for (const char* name : {"c", "a", "b"}) {
    OutputEntry entry = kDone;
    entry.output = name;
    ledger.record({{entry}, {}, {}});
  }
  const auto names = [&](const std::string& after, int limit) {
    std::vector<std::string> found;
    for (const OutputEntry& entry : ledger.entries_after(after, limit))
      found.push_back(entry.output);
    return found;
  };
  EXPECT_THAT(names("", 2), ElementsAre("a", "b"));
  EXPECT_THAT(names("b", 2), ElementsAre("c"));
}

TEST_F(LedgerTest, counts_inputs_of_one_name_in_two_folders_as_two) {
  OutputEntry first = kDone, second = kDone;
  first.input = "/in/a.png", first.root_length = 4;
  second.input = "/other/a.png", second.root_length = 7, second.output = "other/a.png";
  Ledger ledger(file());
  ledger.record({{first, second}, {}, {}});
  EXPECT_EQ(ledger.count_inputs().done, 2);
  ledger.record({{}, {kFailed}, {}});
  EXPECT_EQ(ledger.count_inputs().done, 2);
}

TEST_F(LedgerTest, continues_a_run_and_keeps_the_request_of_a_later_one) {
  Ledger first(file());
  first.record_request({"rank: 1\n", {"/a"}, "list"});
  EXPECT_EQ(first.request()->files_from, "list");
  Ledger(file()).record_request({"rank: 2\n", {"/b"}, ""});
  Ledger continued(file());
  continued.continue_run({"rank: 1\n", {"/a"}, "list"}, 1);
  continued.record({{kDone}, {}, {}});
  EXPECT_EQ(continued.run(), 1);
  EXPECT_EQ(continued.find(kDone.output)->run, 1);
  EXPECT_EQ(continued.request()->settings, "rank: 2\n");
  continued.continue_run({"rank: 7\n", {"/c"}, ""}, 7);
  EXPECT_EQ(continued.request()->settings, "rank: 7\n") << "as in a new file";
  EXPECT_EQ(Ledger(file()).run(), 7);
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

}  // namespace
}  // namespace eckart::ledger
