// Tests what a run knows of outputs by publish intents of earlier runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "pipeline/resume.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;

class ResumeIntentTest : public ::testing::Test {
 protected:
  pipeline::ItemPtr item_of(const std::string& name) const {
    pipeline::ItemPtr item = make_item(1);
    item->file = folder_.path() / "in" / name;
    item->outputs = {folder_.path() / name};
    item->output_bytes = {3};
    item->output_mtimes_ns = {item->publication.add(item->outputs[0], std::vector<std::byte>(3))};
    return item;
  }
  void record_intents(const std::vector<pipeline::WorkItem*>& items) const {
    resume_.record({}, items);
  }
  static void publish(pipeline::WorkItem& item) {
    io::Publication* const group[] = {&item.publication};
    io::publish(group, {.durable = false},
                [](std::size_t, const ItemError& error) { throw error; });
  }
  static void write(const fs::path& file) { std::ofstream(file) << "precious"; }
  static void set_time(const fs::path& file, std::int64_t ns) {
    fs::last_write_time(
        file, std::chrono::file_clock::from_sys(
                  std::chrono::sys_time<std::chrono::nanoseconds>(std::chrono::nanoseconds(ns))));
  }
  pipeline::OutputAction kind(const pipeline::WorkItem& item) const {
    return resume_.decision_for(item, 0).action;
  }

  const TempFolder folder_;
  ledger::Ledger ledger_{folder_.path() / "ledger.db"};
  const pipeline::Resume resume_{ledger_, {.root = folder_.path(), .settings = {"png, rank 7"}}};
};

TEST_F(ResumeIntentTest, identifies_outputs_of_a_killed_run) {
  const pipeline::ItemPtr fresh = item_of("fresh.png"), foreign = item_of("foreign.png"),
                          late = item_of("late.png");
  write(foreign->outputs[0]);
  record_intents({fresh.get(), foreign.get(), late.get()});
  publish(*fresh);
  write(late->outputs[0]);
  EXPECT_EQ(kind(*fresh), pipeline::OutputAction::reprocess);
  const pipeline::ItemPtr again = item_of("fresh.png");
  record_intents({again.get()});
  EXPECT_EQ(kind(*again), pipeline::OutputAction::reprocess)
      << "what the first has published is its own all the same";
  EXPECT_EQ(kind(*foreign), pipeline::OutputAction::compare);
  EXPECT_EQ(kind(*late), pipeline::OutputAction::compare);
}

/// As on a file system with coarser timestamps.
TEST_F(ResumeIntentTest, identifies_an_output_with_a_rounded_time) {
  const pipeline::ItemPtr item = item_of("a.png");
  const std::int64_t written_ns = 1700000000123456789;
  for (const std::int64_t kept_ns :
       {1700000000123456700, 1700000000123456000, 1700000000123000000, 1700000000120000000,
        1700000000000000000, 1700000001000000000}) {
    item->output_mtimes_ns = {written_ns};
    record_intents({item.get()});
    write(item->outputs[0]);
    fs::resize_file(item->outputs[0], 3);
    set_time(item->outputs[0], kept_ns);
    EXPECT_EQ(kind(*item), pipeline::OutputAction::reprocess) << kept_ns;
    set_time(item->outputs[0], kept_ns + 3000000000);
    EXPECT_EQ(kind(*item), pipeline::OutputAction::compare) << kept_ns;
  }
}

/// Earlier versions recorded such intents for outputs with a time of 0.
TEST_F(ResumeIntentTest, does_not_identify_a_file_without_a_time) {
  const pipeline::ItemPtr item = item_of("a.png");
  item->output_mtimes_ns = {0};
  record_intents({item.get()});
  write(item->outputs[0]);
  fs::resize_file(item->outputs[0], 3);
  EXPECT_EQ(kind(*item), pipeline::OutputAction::compare);
}

/// Otherwise another input of that name would collide instead of getting its full name.
TEST_F(ResumeIntentTest, identifies_the_input_of_an_unrecorded_output) {
  const pipeline::ItemPtr item = item_of("a.png"), sibling = item_of("a.png"),
                          other = item_of("b.png");
  sibling->file = folder_.path() / "in/a.jpg";
  record_intents({item.get(), other.get()});
  EXPECT_FALSE(resume_.was_made_from(*item, item->outputs)) << "not published";
  publish(*item);
  EXPECT_TRUE(resume_.was_made_from(*item, item->outputs));
  EXPECT_FALSE(resume_.was_made_from(*sibling, item->outputs));
  EXPECT_TRUE(resume_.collides_with_sibling(*sibling));
  EXPECT_FALSE(resume_.collides_with_sibling(*item));
  write(other->outputs[0]);
  EXPECT_FALSE(resume_.was_made_from(*other, other->outputs)) << "another file";
}

/// The mtime of the link's target does not matter.
TEST_F(ResumeIntentTest, does_not_replace_a_foreign_link) {
  const pipeline::ItemPtr item = item_of("a.png");
  const fs::path old = folder_.path() / "old";
  write(old);
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(1));
  record_intents({item.get()});
  fs::create_symlink(old, item->outputs[0]);
  EXPECT_EQ(kind(*item), pipeline::OutputAction::compare);
}

/// Between intent and rename, the output does not exist yet.
TEST_F(ResumeIntentTest, survives_pruning_of_missing_outputs) {
  const pipeline::ItemPtr item = item_of("a.png");
  record_intents({item.get()});
  EXPECT_FALSE(resume_.forget_missing_outputs(
      "", [](const fs::path& output) { return !fs::exists(output); }));
  publish(*item);
  EXPECT_EQ(kind(*item), pipeline::OutputAction::reprocess);
}

/// A copy of the folder, a backup with hard links or a changed mode changes the ctime of files.
TEST_F(ResumeIntentTest, keeps_the_previous_output_record) {
  const pipeline::ItemPtr item = item_of("a.png");
  pipeline::WorkItem* const items[] = {item.get()};
  fill(*item, 1);
  record_intents({item.get()});
  publish(*item);
  resume_.record(items);
  item->file_state.size = 1;  // the input has changed
  item->output_mtimes_ns = {item->publication.add(item->outputs[0], std::vector<std::byte>(4))};
  item->output_bytes = {4};
  record_intents({item.get()});
  fs::permissions(item->outputs[0], fs::perms::owner_read);
  EXPECT_EQ(kind(*item), pipeline::OutputAction::reprocess);
}

/// With output.times: keep, all outputs of an input have its mtime. The output of a killed run may
/// also have the size of the one before.
TEST_F(ResumeIntentTest, shows_that_an_output_with_the_same_size_and_mtime_may_be_new) {
  const pipeline::Resume other(ledger_, {.root = folder_.path(), .settings = {"png, rank 9"}});
  for (const std::int64_t mtime_ns : {1600000000123456789, std::int64_t(0)}) {
    const std::string name = std::to_string(mtime_ns) + ".png";
    const auto make = [&](const pipeline::Resume& resume) {
      pipeline::ItemPtr item = make_item(1);
      item->file = folder_.path() / "in" / name;
      item->outputs = {folder_.path() / name};
      item->file_state = {.size = 5, .mtime_ns = mtime_ns, .inode = 1};
      fill(*item, 1);
      item->output_bytes = {3};
      item->output_mtimes_ns = {ledger::recorded_mtime(
          item->publication.add(item->outputs[0], std::vector<std::byte>(3), mtime_ns))};
      pipeline::WorkItem* const items[] = {item.get()};
      resume.record({}, items);
      publish(*item);
      return item;
    };
    const pipeline::ItemPtr item = make(resume_);
    pipeline::WorkItem* const items[] = {item.get()};
    resume_.record(items);
    EXPECT_EQ(kind(*item), pipeline::OutputAction::skip);
    make(other);
    EXPECT_EQ(kind(*item), pipeline::OutputAction::reject) << "the file may be of rank 9";
  }
}

TEST_F(ResumeIntentTest, is_removed_for_unpublished_outputs) {
  const pipeline::ItemPtr published = item_of("published.png"), failed = item_of("failed.png");
  record_intents({published.get(), failed.get()});
  publish(*published);
  for (pipeline::WorkItem* item : {published.get(), failed.get()}) {
    item->outcome =
        Outcome::failed(Stage::write, FailureReason::output_collision, "another output of it");
    pipeline::WorkItem* const items[] = {item};
    resume_.record(items);
  }
  EXPECT_TRUE(ledger_.find_intent({"published.png", 3, published->output_mtimes_ns[0]}));
  EXPECT_FALSE(ledger_.find_intent({"failed.png", 3, failed->output_mtimes_ns[0]}));
}

TEST_F(ResumeIntentTest, is_removed_when_publishing_fails) {
  const pipeline::ItemPtr published = item_of("published.png"), failed = item_of("failed.png");
  pipeline::WorkItem* const items[] = {published.get(), failed.get()};
  resume_.record({}, items);
  publish(*published);
  resume_.abandon_intents(items);
  const auto left = ledger_.intents();
  ASSERT_EQ(left.size(), 1U);
  EXPECT_EQ(left[0].output, "published.png");
}

/// For example, for deleted inputs: no run writes their outputs.
TEST_F(ResumeIntentTest, is_removed_if_of_an_earlier_run_with_a_missing_output) {
  const pipeline::ItemPtr published = item_of("published.png"), killed = item_of("killed.png"),
                          in_flight = item_of("in_flight.png");
  record_intents({published.get(), killed.get()});
  publish(*published);
  ledger_.record_request({.settings = {}, .inputs = {}, .files_from = {}});
  record_intents({in_flight.get()});
  resume_.forget_missing_outputs("", [](const fs::path& output) { return !fs::exists(output); });
  std::vector<std::string> left;
  for (const auto& intent : ledger_.intents()) left.push_back(intent.output);
  EXPECT_THAT(left, testing::ElementsAre("in_flight.png", "published.png"));
}

}  // namespace
}  // namespace eckart::test
