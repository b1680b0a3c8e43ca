// Tests what a run knows about outputs of earlier runs: recorded outputs and publish intents.
#include "pipeline/resume.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <chrono>
#include <fstream>
#include <span>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "pipeline/settings_change.hpp"
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
    resume_.record_intents(items);
  }
  static void publish(pipeline::WorkItem& item) {
    io::Publication* const group[] = {&item.publication};
    io::publish(group, {.durable = false},
                [](std::size_t, const ItemError& error) { throw error; });
  }
  static void write(const fs::path& file) { std::ofstream(file) << "precious"; }
  static void set_time(const fs::path& file, std::int64_t ns) {
    fs::last_write_time(file, std::chrono::file_clock::from_sys(
                                  std::chrono::sys_time(std::chrono::nanoseconds(ns))));
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
  constexpr std::int64_t kMtime_ns = 1600000000123456789;
  const pipeline::Resume other(ledger_, {.root = folder_.path(), .settings = {"png, rank 9"}});
  const auto make = [&](const pipeline::Resume& resume) {
    pipeline::ItemPtr item = make_item(1);
    item->file = folder_.path() / "in" / "a.png";
    item->outputs = {folder_.path() / "a.png"};
    item->file_state = {.size = 5, .mtime_ns = kMtime_ns, .inode = 1};
    fill(*item, 1);
    item->output_bytes = {3};
    item->output_mtimes_ns = {
        item->publication.add(item->outputs[0], std::vector<std::byte>(3), kMtime_ns)};
    pipeline::WorkItem* const items[] = {item.get()};
    resume.record_intents(items);
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
  resume_.record_intents(items);
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
      .record_intents(items);
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
      .record_intents(items);
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
      .record_intents(items);
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

TEST(SettingsText, names_all_settings_that_affect_an_output) {
  EXPECT_EQ(pipeline::settings_text({.ranks = {20}}), "png, solver auto, rank 20")
      << "as in earlier versions";
  const PeakChoice peak{PeakSource::number, 4095};
  EXPECT_EQ(pipeline::settings_text({.ranks = {20}, .peak = peak}),
            pipeline::settings_text({.ranks = {20}}))
      << "it changes only what is reported";
  EXPECT_EQ(pipeline::settings_text({.ranks = {{RankPolicy::Kind::psnr, 35}}, .peak = peak}),
            "png, solver auto, rank psnr:35, peak 4095");
  EXPECT_EQ(
      pipeline::settings_text({.format = OutputFormat::jpeg,
                               .solver = SolverKind::gram,
                               .certificate = Certificate::bound,
                               .is_deterministic = true,
                               .encode = {.jpeg_quality = 90},
                               .decoder = Decoder::opencv,
                               .alpha = AlphaPolicy::white,
                               .preparation = {.gray = true,
                                               .size = TargetSize::exactly(256, 128),
                                               .normalize = Normalization::minmax},
                               .ranks = {7}}),
      "jpeg, solver gram, certificate bound, deterministic, quality 90, decoder opencv, alpha "
      "white, gray, size 256x128, normalize minmax, rank 7");
  EXPECT_EQ(pipeline::settings_text({.format = OutputFormat::webp, .ranks = {20}}),
            "webp, solver auto, quality lossless, rank 20");
  EXPECT_EQ(pipeline::settings_text(
                {.format = OutputFormat::webp, .encode = {.webp_quality = 80}, .ranks = {20}}),
            "webp, solver auto, quality 80, rank 20");
  EXPECT_EQ(pipeline::settings_text({.metadata = MetadataPolicy::none,
                                     .ranks = {20, {RankPolicy::Kind::psnr, 35}},
                                     .factors = FactorType::float16}),
            "npz, solver auto, factors float16, rank 20,psnr:35");
}

TEST(SettingsText, names_settings_of_files_that_are_not_the_default) {
  EXPECT_EQ(pipeline::settings_text({.format = OutputFormat::jpeg,
                                     .encode = {.jpeg_quality = 90,
                                                .jpeg_subsampling = JpegSubsampling::k420,
                                                .jpeg_progressive = true,
                                                .jpeg_optimize = true,
                                                .png = PngCompression::small},
                                     .metadata = MetadataPolicy::icc,
                                     .has_stamp = false,
                                     .ranks = {7}}),
            "jpeg, solver auto, quality 90, subsampling 4:2:0, progressive, optimized, "
            "metadata icc, unstamped, rank 7");
  EXPECT_EQ(pipeline::settings_text({.encode = {.jpeg_subsampling = JpegSubsampling::k420,
                                                .jpeg_progressive = true,
                                                .png = PngCompression::small},
                                     .ranks = {7}}),
            "png, solver auto, compression small, rank 7");
}

TEST(SettingsDifference, lists_changed_settings) {
  EXPECT_EQ(pipeline::settings_difference("png, solver auto, rank 20", "png, solver auto, rank 7"),
            "rank 20 -> 7");
  EXPECT_EQ(
      pipeline::settings_difference("png, solver auto, rank 7",
                                    "jpeg, solver gram, deterministic, quality 90, rank 7"),
      "deterministic none -> on, format png -> jpeg, quality none -> 90, solver auto -> gram");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, decoder opencv, rank 7"),
            "decoder strict -> opencv");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, certificate bound, rank 7"),
            "certificate estimate -> bound");
  EXPECT_EQ(pipeline::settings_difference("png, size max:300, rank 7", "png, gray, rank 7"),
            "gray none -> on, size max:300 -> none");
  EXPECT_EQ(pipeline::settings_difference(
                "jpeg, quality 90, rank 7",
                "jpeg, quality 90, subsampling 4:2:0, progressive, metadata none, rank 7"),
            "metadata keep -> none, progressive none -> on, subsampling keep -> 4:2:0");
  EXPECT_EQ(pipeline::settings_difference("png, rank 7", "png, compression small, rank 7"),
            "compression fast -> small");
  EXPECT_EQ(pipeline::settings_difference("", "png, rank 7"), "settings that were not recorded");
}

}  // namespace
}  // namespace eckart::test
