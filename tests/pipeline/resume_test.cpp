// Tests what a run knows about outputs that earlier runs have recorded.
#include "pipeline/resume.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "tests/pipeline/fakes.hpp"
#include "tests/support/log_capture.hpp"
#include "tests/support/temp_folder.hpp"

namespace eckart::test {
namespace {

namespace fs = std::filesystem;

class ResumeCheckTest : public ::testing::Test {
 protected:
  void SetUp() override {
    fs::create_directory(at("old"));
    fs::create_directory(at("new"));
    write("old/a.png", "image");
    write("a.png", "result");
  }
  fs::path at(const fs::path& name) const { return folder_.path() / name; }
  void write(const fs::path& name, std::string_view text) const {
    fs::remove(at(name));
    std::ofstream(at(name)) << text;
    fs::last_write_time(at(name), fs::file_time_type(std::chrono::seconds(1000000000)));
  }
  pipeline::Resume resume(bool compares_content = false) {
    return {ledger_,
            {.root = folder_.path(),
             .settings = {"png, rank 7"},
             .compares_content = compares_content}};
  }
  pipeline::WorkItem item(const fs::path& folder) const {
    pipeline::WorkItem item;
    item.file = at(folder / "a.png");
    item.relative = "a.png";
    item.outputs = {at("a.png")};
    return item;
  }
  /// Writes and records the output of the old input.
  void make_from_old(const std::string& content = {}) {
    pipeline::WorkItem made = item("old");
    made.file_state = io::InputFile(made.file).state();
    made.content_hash = content;
    made.output_bytes = {6};
    fill(made, 1);
    pipeline::WorkItem* const items[] = {&made};
    resume().record(items);
  }

  const TempFolder folder_;
  ledger::Ledger ledger_{at("ledger.db")};
};

/// Only those that are done, of this state of the input, and of these settings.
TEST_F(ResumeCheckTest, finds_factors_of_the_same_decomposition) {
  const std::string settings = "npz, solver auto, factors float32, rank 20";
  write("a.npz", "triplets");
  pipeline::WorkItem made = item("old");
  made.outputs = {at("a.npz")};
  made.file_state = io::InputFile(made.file).state();
  made.output_bytes = {8};
  fill(made, 1);
  made.task.results[0][0].loss_estimate_db = 0.004;
  pipeline::WorkItem* const items[] = {&made};
  ledger_.record_settings({settings});
  const auto resume_with = [&](std::string factors_settings, std::int64_t min_run = 0) {
    return pipeline::Resume(ledger_, {.root = folder_.path(),
                                      .settings = {settings},
                                      .factors_settings = std::move(factors_settings),
                                      .min_run = min_run});
  };
  const pipeline::Resume resume = resume_with("npz, solver auto, factors float32, rank 5");
  const auto find = [&](const pipeline::Resume& in) {
    return in.find_factors(made, std::vector{at("none.npz"), at("a.npz")});
  };
  EXPECT_FALSE(find(resume)) << "not recorded";
  resume.record(items);
  const auto found = find(resume);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->file, at("a.npz"));
  EXPECT_EQ(found->bytes, 8);
  EXPECT_EQ(found->loss_estimate_db, 0.004);
  EXPECT_FALSE(find(resume_with("npz, solver gram, factors float32, rank 5")));
  EXPECT_FALSE(find(resume_with("npz, solver auto, factors float32, rank 5", ledger_.run() + 1)))
      << "--overwrite";
  made.file_state.mtime_ns += 1;
  EXPECT_FALSE(find(resume)) << "the input changed";
  made.file_state.mtime_ns -= 1;
  write("a.npz", "modified triplets");
  EXPECT_FALSE(find(resume));
}

TEST_F(ResumeCheckTest, compares_the_open_file_with_its_possible_original) {
  make_from_old();
  pipeline::WorkItem copy = item("new");
  const auto result_of = [&](std::string_view is_open, std::string_view has_its_path_by_now) {
    write("new/a.png", is_open);
    const io::InputFile open(copy.file);
    write("new/a.png", has_its_path_by_now);
    copy.outcome = {};
    resume().check(copy, &open);
    return copy.outcome.result;
  };
  EXPECT_EQ(result_of("image", "other"), ItemResult::skipped);
  EXPECT_THROW(result_of("other", "image"), ItemError);
}

TEST_F(ResumeCheckTest, counts_a_failure_until_the_input_changes) {
  pipeline::WorkItem bad = item("old");
  bad.file_state = io::InputFile(bad.file).state();
  EXPECT_FALSE(resume().has_failed(bad));
  ledger_.record({.done = {},
                  .failed = {{at("old/a.png"), bad.file_state, FailureReason::corrupt}},
                  .cleared = {}});
  EXPECT_TRUE(resume().has_failed(bad));
  bad.file_state.mtime_ns += 1;
  EXPECT_FALSE(resume().has_failed(bad));
}

/// The record has the bytes and settings of the existing file, and the current state of the input.
TEST_F(ResumeCheckTest, records_a_kept_output_of_a_killed_run_as_done) {
  make_from_old();
  pipeline::WorkItem killed = item("old");
  killed.file_state = io::InputFile(killed.file).state();
  write("a.png", "result of a killed run");
  killed.output_bytes = {22};
  killed.output_mtimes_ns = {pipeline::stat_path(at("a.png")).mtime_ns};
  pipeline::WorkItem* const items[] = {&killed};
  pipeline::Resume(ledger_, {.root = folder_.path(), .settings = {"png, rank 9"}})
      .record({}, items);
  fs::rename(at("old/a.png"), at("new/a.png"));
  pipeline::WorkItem moved = item("new");
  const pipeline::Resume keep(ledger_, {.root = folder_.path(),
                                        .settings = {"png, rank 5"},
                                        .on_change = pipeline::OnSettingsChange::keep});
  moved.file_state = io::InputFile(moved.file).state();
  EXPECT_FALSE(keep.is_done(moved)) << "not recorded";
  keep.check(moved, nullptr);
  ASSERT_EQ(moved.outcome.result, ItemResult::skipped);
  pipeline::WorkItem* const moved_items[] = {&moved};
  keep.record(moved_items);
  const auto known = ledger_.find("a.png");
  ASSERT_TRUE(known);
  EXPECT_EQ(known->bytes, 22);
  EXPECT_EQ(known->settings, ledger::settings_hash("png, rank 9"));
  EXPECT_EQ(known->input, at("new/a.png"));
  EXPECT_EQ(known->state, moved.file_state);
  EXPECT_TRUE(ledger_.intents().empty());
  EXPECT_TRUE(keep.is_done(moved));
}

/// A rank was added: one output is kept and the other is missing.
TEST_F(ResumeCheckTest, records_the_new_path_of_an_input_beside_a_new_output) {
  make_from_old();
  fs::rename(at("old/a.png"), at("new/a.png"));
  pipeline::WorkItem moved = item("new");
  moved.outputs = {at("a.png"), at("a.k5.png")};
  const pipeline::Resume two_ranks(
      ledger_, {.root = folder_.path(), .settings = {"png, rank 7", "png, rank 5"}});
  two_ranks.check(moved, nullptr);
  ASSERT_TRUE(moved.outcome.ok());
  write("a.k5.png", "other result");
  moved.output_bytes = {0, 12};
  fill(moved, 1);
  pipeline::WorkItem* const items[] = {&moved};
  two_ranks.record(items);
  EXPECT_EQ(ledger_.find("a.png").value().input, at("new/a.png"));
  EXPECT_EQ(ledger_.find("a.k5.png").value().input, at("new/a.png"));
}

/// One output of the input is kept and the other is missing: computing it may lose the GPU again.
TEST_F(ResumeCheckTest, keeps_a_suspect_whose_other_output_is_missing) {
  write("a.png", "result of a killed run");
  write("new/a.png", "image");
  pipeline::WorkItem item = this->item("new");
  item.file_state = io::InputFile(item.file).state();
  item.output_bytes = {22};
  item.output_mtimes_ns = {pipeline::stat_path(at("a.png")).mtime_ns};
  pipeline::WorkItem* const items[] = {&item};
  pipeline::Resume(ledger_, {.root = folder_.path(), .settings = {"png, rank 9"}})
      .record({}, items);
  const ledger::Suspect suspects[] = {{at("new/a.png"), item.file_state, 2}};
  ledger_.record_suspects(suspects);
  item.outputs = {at("a.png"), at("a.k5.png")};
  const pipeline::Resume two_ranks(ledger_, {.root = folder_.path(),
                                             .settings = {"png, rank 8", "png, rank 5"},
                                             .on_change = pipeline::OnSettingsChange::keep,
                                             .uses_gpu = true});
  two_ranks.check(item, nullptr);
  EXPECT_NE(item.outcome.result, ItemResult::skipped);
  EXPECT_TRUE(item.task.is_cpu_only);
  EXPECT_EQ(ledger_.suspects().size(), 1U);
}

/// Publish intents of a version 3 ledger have no sizes.
TEST_F(ResumeCheckTest, records_a_kept_output_with_the_size_that_it_has) {
  write("a.png", "result of a killed run");
  write("new/a.png", "image");
  pipeline::WorkItem killed = item("new");
  killed.file_state = io::InputFile(killed.file).state();
  killed.output_bytes = {-1};
  killed.output_mtimes_ns = {pipeline::stat_path(at("a.png")).mtime_ns};
  pipeline::WorkItem* const items[] = {&killed};
  pipeline::Resume(ledger_, {.root = folder_.path(), .settings = {"png, rank 9"}})
      .record({}, items);
  const pipeline::Resume keep(ledger_, {.root = folder_.path(),
                                        .settings = {"png, rank 5"},
                                        .on_change = pipeline::OnSettingsChange::keep});
  for (int run = 0; run < 2; ++run) {
    pipeline::WorkItem again = item("new");
    keep.check(again, nullptr);
    EXPECT_EQ(again.outcome.result, ItemResult::skipped) << again.outcome.detail;
    ASSERT_TRUE(ledger_.find("a.png"));
    EXPECT_EQ(ledger_.find("a.png")->bytes, 22);
  }
}

/// Otherwise the write threads would read both files again.
TEST_F(ResumeCheckTest, compares_an_input_with_its_original_once) {
  make_from_old();
  write("new/a.png", "image");
  pipeline::WorkItem copy = item("new");
  copy.file_state = io::InputFile(copy.file).state();
  EXPECT_EQ(resume().decision_for(copy, 0).action, pipeline::OutputAction::reject)
      << "it may be another file";
  resume().check(copy, nullptr);
  write("old/a.png", "other");
  EXPECT_EQ(resume().decision_for(copy, 0).action, pipeline::OutputAction::skip);
  pipeline::WorkItem* const items[] = {&copy};
  resume().record(items);
  EXPECT_TRUE(resume().is_done(copy));
  copy.original_paths.clear();
  EXPECT_TRUE(resume().is_done(copy)) << "the ledger has its path now";
}

TEST_F(ResumeCheckTest, hashes_the_open_file) {
  make_from_old(io::content_hash(std::as_bytes(std::span("image", 5))));
  write("new/a.png", "image");
  pipeline::WorkItem copy = item("new");
  const io::InputFile open(copy.file);
  write("new/a.png", "other");
  resume(true).check(copy, &open);
  EXPECT_EQ(copy.outcome.result, ItemResult::skipped);
}

/// Another image may have caused the first loss of the GPU, but not the second.
TEST_F(ResumeCheckTest, suspects_an_input_that_was_in_flight_when_the_gpu_was_lost) {
  write("new/a.png", "image");
  const auto resume_with = [&](bool uses_gpu) {
    return pipeline::Resume(
        ledger_, {.root = folder_.path(), .settings = {"png, rank 7"}, .uses_gpu = uses_gpu});
  };
  const auto checked = [&](bool uses_gpu) {
    pipeline::WorkItem found = item("new");
    found.outputs = {at("other.png")};
    resume_with(uses_gpu).check(found, nullptr);
    return std::pair(found.is_suspect, found.task.is_cpu_only);
  };
  pipeline::WorkItem lost = item("new");
  lost.file_state = io::InputFile(lost.file).state();
  EXPECT_EQ(checked(true), std::pair(false, false));
  resume_with(true).record_suspects({&lost});
  EXPECT_EQ(checked(true), std::pair(true, false));
  const LogCapture log;
  resume_with(true).record_suspects({&lost});
  EXPECT_EQ(checked(true), std::pair(true, true));
  EXPECT_EQ(log.text(),
            "W " + at("new/a.png").string() +
                ": the GPU was lost 2 times while computing this image; using the CPU\n");
  EXPECT_EQ(checked(false), std::pair(false, false));
  write("new/a.png", "image of another size");
  EXPECT_EQ(checked(true), std::pair(false, false)) << "another file";
}

TEST_F(ResumeCheckTest, clears_failure_and_suspicion_of_an_input_that_is_done) {
  make_from_old();
  pipeline::WorkItem done = item("old");
  done.file_state = io::InputFile(done.file).state();
  ledger_.record({.done = {},
                  .failed = {{at("old/a.png"), done.file_state, FailureReason::corrupt}},
                  .cleared = {}});
  const ledger::Suspect suspects[] = {{at("old/a.png"), done.file_state, 1}};
  ledger_.record_suspects(suspects);
  const pipeline::Resume again(
      ledger_, {.root = folder_.path(), .settings = {"png, rank 7"}, .uses_gpu = true});
  again.check(done, nullptr);
  ASSERT_EQ(done.outcome.result, ItemResult::skipped);
  EXPECT_EQ(done.outcome.detail, "already done");
  pipeline::WorkItem* const items[] = {&done};
  again.record(items);
  EXPECT_TRUE(ledger_.failures(1).empty());
  EXPECT_TRUE(ledger_.suspects().empty());
}

TEST_F(ResumeCheckTest, records_a_failure_for_outputs_that_the_input_cannot_give) {
  pipeline::WorkItem made = item("old");
  made.file_state = io::InputFile(made.file).state();
  made.outputs = {at("a.png"), at("b.png")};
  made.unavailable_outputs = {1};
  made.unavailable_reason = "few triplets";
  made.output_bytes = {6, 0};
  fill(made, 1);
  pipeline::WorkItem* const items[] = {&made};
  resume().record(items);
  EXPECT_TRUE(ledger_.find("a.png"));
  EXPECT_FALSE(ledger_.find("b.png"));
  const auto failure = ledger_.find_failure(at("old/a.png"));
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->reason, FailureReason::unsupported);
  EXPECT_EQ(failure->detail, "few triplets");
}

TEST_F(ResumeCheckTest, does_not_record_an_input_that_will_be_tried_again) {
  pipeline::WorkItem waits = item("old");
  waits.outcome = Outcome::deferred(Stage::write, "no space");
  pipeline::WorkItem* const items[] = {&waits};
  resume().record(items);
  EXPECT_TRUE(ledger_.failures(1).empty());
}

TEST_F(ResumeCheckTest, does_not_examine_outputs_that_are_known_to_be_free) {
  pipeline::WorkItem fresh = item("old");
  EXPECT_NO_THROW(resume().check(fresh, nullptr))
      << "an unknown file, compared when it is published";
  make_from_old();
  fresh.outputs_are_free = true;
  resume().check(fresh, nullptr);
  EXPECT_TRUE(fresh.outcome.ok());
  fresh.outputs_are_free = false;
  resume().check(fresh, nullptr);
  EXPECT_EQ(fresh.outcome.result, ItemResult::skipped);
}

/// Each rank has its own settings.
TEST_F(ResumeCheckTest, explains_the_changed_settings_of_each_output) {
  ledger_.record_settings({"png, rank 7"});
  make_from_old();
  write("b.png", "result");
  pipeline::WorkItem second = item("old");
  second.file_state = io::InputFile(second.file).state();
  second.outputs = {at("b.png")};
  second.output_bytes = {6};
  fill(second, 1);
  pipeline::WorkItem* const items[] = {&second};
  resume().record(items);
  second.outputs = {at("a.png"), at("b.png")};
  const pipeline::Resume other(
      ledger_, {.root = folder_.path(), .settings = {"png, rank 5", "jpeg, rank 7"}});
  EXPECT_EQ(other.decision_for(second, 0).explanation, "rank 7 -> 5");
  EXPECT_EQ(other.decision_for(second, 1).explanation, "format png -> jpeg");
}

/// A folder of links may have the images of others.
TEST_F(ResumeCheckTest, calls_only_inputs_of_the_same_folder_siblings) {
  make_from_old();
  write("old/a.jpg", "another image");
  write("new/a.jpg", "another image");
  pipeline::WorkItem sibling = item("old"), stranger = item("new");
  sibling.file = at("old/a.jpg"), stranger.file = at("new/a.jpg");
  EXPECT_TRUE(resume().collides_with_sibling(sibling));
  EXPECT_FALSE(resume().collides_with_sibling(stranger));
  EXPECT_FALSE(resume().collides_with_sibling(item("old"))) << "its own output";
}

TEST_F(ResumeCheckTest, knows_whether_earlier_runs_made_outputs) {
  EXPECT_FALSE(resume().had_outputs());
  pipeline::WorkItem killed = item("old");
  killed.output_bytes = {22};
  killed.output_mtimes_ns = {1};
  pipeline::WorkItem* const items[] = {&killed};
  resume().record({}, items);
  EXPECT_TRUE(resume().had_outputs()) << "perhaps";
}

}  // namespace
}  // namespace eckart::test
