#include "app/watched_folder.hpp"

#include <chrono>
#include <fstream>
#include <memory>
#include <string>
#include <tuple>

#include "core/error.hpp"
#include "io/folder_lock.hpp"
#include "pipeline/color_planes.hpp"
#include "pipeline/full_rank_filter.hpp"
#include "tests/unit/app/watched_folder_fixture.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;
using settings::DoneInputAction;
using testing::HasSubstr;

TEST_F(WatchedFolderTest, has_no_output_folder_that_another_process_uses) {
  WatchedFolder folder(watch());
  EXPECT_FALSE(folder.has_output());
  {
    const io::FolderLock other(at("out"));
    folder.maintain({});
    EXPECT_FALSE(folder.has_output()) << "so that it neither sweeps the quarantine nor requeues";
  }
  folder.maintain({});
  EXPECT_TRUE(folder.has_output());
}

TEST_F(WatchedFolderTest, records_hash_of_the_file_that_was_read) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  record(folder, item);
  EXPECT_EQ(reason("a.png").value("sha256", ""),
            "2f05d4b689d270cafb02285f35f44866f7dc8a2d368a3f9d1124373eeab31fb1");
  EXPECT_TRUE(reason("a.png").at("sha256_error").is_null());
}

TEST_F(WatchedFolderTest, does_not_wait_for_a_fifo_in_place_of_a_bad_file) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  fs::remove(at("in/a.png"));
  ASSERT_EQ(::mkfifo(at("in/a.png").c_str(), 0600), 0);
  record(folder, item);
  EXPECT_TRUE(reason("a.png").at("sha256").is_null());
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "is not a regular file");
}

TEST_F(WatchedFolderTest, does_not_read_a_huge_file_in_place_of_a_bad_one) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  fs::resize_file(at("in/a.png"), std::uintmax_t(8) << 40);
  record(folder, item);
  EXPECT_THAT(reason("a.png").value("sha256_error", ""), HasSubstr("limits.file_mb"));
}

TEST_F(WatchedFolderTest, does_not_hash_a_sparse_file) {
  settings::WatchSettings sparse = watch();
  sparse.settings.limits.file_mb = 8;
  WatchedFolder folder(sparse);
  std::ofstream(at("in/a.png")) << "x";
  fs::resize_file(at("in/a.png"), std::uintmax_t(4) << 20);
  auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), "a.png"));
  folder.assign_outputs(*item);
  item->outcome = Outcome::failed(Stage::load, FailureReason::corrupt, "why");
  record(folder, item);
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "the file is mostly sparse");
}

TEST_F(WatchedFolderTest, does_not_hash_a_replaced_file) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  std::ofstream(at("secret")) << "sec";
  fs::rename(at("secret"), at("in/a.png"));
  record(folder, item);
  EXPECT_EQ(reason("a.png").value("sha256_error", ""), "the file was replaced");
}

TEST_F(WatchedFolderTest, removes_only_the_file_that_was_read) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  std::ofstream(at("other")) << "new";
  fs::rename(at("other"), at("in/a.png"));
  record(folder, item);
  EXPECT_TRUE(fs::exists(at("in/a.png")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png")));
}

TEST_F(WatchedFolderTest, removes_record_of_kept_input_once_quarantined) {
  pipeline::ItemPtr item;
  {
    WatchedFolder folder(watch());
    item = bad_item(folder, "a.png");
    publish(folder, item);
    EXPECT_TRUE(reason("a.png").contains("input"));
  }
  WatchedFolder folder(watch(DoneInputAction::remove));
  item = bad_item(folder, "a.png");
  publish(folder, item);
  EXPECT_TRUE(fs::exists(at("out/.eckart/quarantine/a.png.record.json")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png.kept.json")));
}

/// Its record goes, too, so that `status` counts neither.
TEST_F(WatchedFolderTest, forgets_a_failure_when_its_kept_input_is_gone) {
  WatchedFolder folder(watch());
  for (const char* const name : {"gone.png", "there.png"}) {
    pipeline::ItemPtr item = bad_item(folder, name);
    publish(folder, item);
  }
  ASSERT_EQ(failed_inputs().size(), 2U);
  fs::remove(at("in/gone.png"));
  const Instant now = Clock::now();
  folder.maintain({}, now);
  EXPECT_EQ(failed_inputs().size(), 2U) << "it may be on its way to the quarantine";
  fs::rename(at("in"), at("away"));
  fs::create_directory(at("in"));
  for (const int s : {60, 120}) folder.maintain({}, now + std::chrono::seconds(s));
  EXPECT_EQ(failed_inputs().size(), 2U) << "the folder may be the place of an unmounted disk";
  fs::remove(at("in"));
  fs::rename(at("away"), at("in"));
  folder.maintain({}, now + std::chrono::seconds(180));
  EXPECT_THAT(failed_inputs(), testing::ElementsAre(at("in/there.png")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/gone.png.kept.json")));
  EXPECT_TRUE(fs::exists(at("out/.eckart/quarantine/there.png.kept.json")));
}

TEST_F(WatchedFolderTest, forgets_a_failure_when_its_file_is_gone_from_the_quarantine) {
  WatchedFolder folder(watch(settings::DoneInputAction::remove));
  for (const char* const name : {"gone.png", "there.png"}) {
    pipeline::ItemPtr item = bad_item(folder, name);
    publish(folder, item);
  }
  ASSERT_EQ(failed_inputs().size(), 2U);
  for (const char* const name : {"gone.png", "gone.png.record.json"})
    ASSERT_TRUE(fs::remove(at("out/.eckart/quarantine") / name));
  const Instant now = Clock::now();
  for (const int s : {0, 60}) folder.maintain({}, now + std::chrono::seconds(s));
  EXPECT_THAT(failed_inputs(), testing::ElementsAre(at("in/there.png")));
}

/// Its size and time may be those of the input that was read.
TEST_F(WatchedFolderTest, processes_a_file_that_replaced_an_input_that_is_done) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  write_image(at("in/a.png"));
  const auto time = fs::last_write_time(at("in/a.png"));
  const auto replace = [&] {
    write_image(at("new"));
    fs::last_write_time(at("new"), time);
    fs::rename(at("new"), at("in/a.png"));
  };
  EXPECT_EQ(process(folder, at("in"), "a.png", replace).result, ItemResult::done);
  ASSERT_TRUE(fs::exists(at("in/a.png")));
  EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::done) << "not skipped";
  EXPECT_FALSE(fs::exists(at("in/a.png")));
}

/// The service was killed before the removal.
TEST_F(WatchedFolderTest, processes_another_file_with_size_and_time_of_an_input_that_is_done) {
  write_image(at("in/a.png"));
  const auto time = fs::last_write_time(at("in/a.png"));
  {
    WatchedFolder keeps(watch());
    EXPECT_EQ(process(keeps, at("in"), "a.png").result, ItemResult::done);
  }
  write_image(at("new"));  // while the other exists: has another inode
  fs::last_write_time(at("new"), time);
  fs::rename(at("new"), at("in/a.png"));
  WatchedFolder folder(watch(DoneInputAction::remove));
  EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::done) << "not skipped";
}

/// Its path in the quarantine would exceed the maximum length.
TEST_F(WatchedFolderTest, does_not_retry_input_too_deep_for_the_quarantine) {
  const std::size_t room = 4090 - (at("in") / "a.png").native().size();
  fs::path deep;
  while (deep.native().size() + 200 < room) deep /= std::string(99, 'd');
  deep /= std::string(room - deep.native().size() - 2, 'e');
  fs::create_directories(at("in") / deep);
  ASSERT_LT((at("in") / deep / "a.png").native().size(), 4096u);
  pipeline::ItemPtr item;
  for (const auto after : {DoneInputAction::remove, DoneInputAction::keep}) {
    WatchedFolder folder(watch(after));
    item = bad_item(folder, deep / "a.png");
    publish(folder, item);
    EXPECT_EQ(item->outcome.result, ItemResult::failed) << "and no environment is to blame";
    EXPECT_TRUE(fs::exists(item->file));
    EXPECT_FALSE(needs_processing(folder, *item));
  }
  EXPECT_FALSE(
      needs_processing(*std::make_unique<WatchedFolder>(watch(DoneInputAction::remove)), *item))
      << "nor later";
}

/// It may be valid, as a file without read permission.
TEST_F(WatchedFolderTest, does_not_quarantine_an_input_that_stays_unreadable) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  item->outcome = Outcome::failed(Stage::load, FailureReason::unreadable, "why");
  item->is_last_attempt = true;
  publish(folder, item);
  EXPECT_EQ(item->outcome.result, ItemResult::incomplete);
  EXPECT_TRUE(fs::exists(at("in/a.png")));
  EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png")));
}

/// The file may be incomplete, or the machine busy.
TEST_F(WatchedFolderTest, retries_an_input_before_it_is_quarantined) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  for (const auto reason :
       {FailureReason::corrupt, FailureReason::empty_file, FailureReason::not_an_image,
        FailureReason::out_of_memory, FailureReason::compute_failed}) {
    pipeline::ItemPtr item = bad_item(folder, "a.png");
    item->outcome = Outcome::failed(Stage::load, reason, "why");
    item->is_last_attempt = false;
    publish(folder, item);
    EXPECT_EQ(item->outcome.result, ItemResult::incomplete) << to_string(reason);
    EXPECT_TRUE(fs::exists(at("in/a.png"))) << to_string(reason);
    EXPECT_FALSE(fs::exists(at("out/.eckart/quarantine/a.png"))) << to_string(reason);
  }
}

TEST_F(WatchedFolderTest, does_not_defer_items_after_a_bug) {
  write_image(at("in/a.png"));
  WatchedFolder folder(watch());
  auto item = std::make_unique<pipeline::WorkItem>(found(at("in"), "a.png"));
  folder.assign_outputs(*item);
  pipeline::set_matrices(*item, Image({8, 4, 1, Depth::u8}), ColorMode::channels);
  const RankPolicy ranks[] = {2};
  pipeline::prepare_task(*item, ranks);
  pipeline::allocate_outputs(item->task);
  folder.write(*item);  // the item is written, but its state does not say so
  EXPECT_THROW(folder.publish(std::span(&item, 1)), std::logic_error);
}

TEST_F(WatchedFolderTest, records_suspects_although_the_output_folder_of_another_is_missing) {
  std::vector<std::unique_ptr<WatchedFolder>> folders;
  std::vector<pipeline::WorkItem> items;
  for (const char* name : {"missing", "healthy"}) {
    settings::WatchSettings watch = this->watch();
    watch.input = at(name) / "in";
    watch.output = at(name) / "out";
    fs::create_directories(watch.input);
    write_image(watch.input / "a.png");
    WatchedFolder& folder = *folders.emplace_back(std::make_unique<WatchedFolder>(watch));
    items.push_back(found(watch.input, "a.png"));
    items.back().job = int(folders.size()) - 1;
    EXPECT_TRUE(needs_processing(folder, items.back()));
  }
  fs::rename(at("missing/out"), at("moved"));
  std::ofstream(at("missing/out")) << "a file in place of the folder";
  EXPECT_THROW(record_suspects(folders, {&items[0], &items[1]}), EnvironmentError);
  folders.clear();
  const auto ledger = ledger::Ledger::open_read_only(at("healthy/out/.eckart/ledger.db"));
  ASSERT_EQ(ledger->suspects().size(), 1u);
  EXPECT_EQ(ledger->suspects().front().input, at("healthy/in/a.png").native());
}

/// Each scan checks each file.
TEST_F(WatchedFolderTest, reads_copied_input_once_and_not_for_selection) {
  write_image(at("in/a.png"));
  {
    WatchedFolder before(watch());
    const Outcome outcome = process(before, at("in"), "a.png");
    ASSERT_TRUE(outcome.ok()) << outcome.detail;
    EXPECT_FALSE(needs_processing(before, found(at("in"), "a.png")));
  }
  fs::create_directory(at("copy"));
  fs::copy_file(at("in/a.png"), at("copy/a.png"));
  fs::last_write_time(at("copy/a.png"), fs::last_write_time(at("in/a.png")));
  settings::WatchSettings copied = watch();
  copied.input = at("copy");
  WatchedFolder folder(copied);
  const pipeline::WorkItem copy = found(at("copy"), "a.png");
  EXPECT_TRUE(needs_processing(folder, copy)) << "only what they hold tells";
  const Outcome outcome = process(folder, at("copy"), "a.png");
  EXPECT_EQ(outcome.result, ItemResult::skipped) << outcome.detail;
  EXPECT_FALSE(needs_processing(folder, copy)) << "it is recorded";
}

TEST_F(WatchedFolderTest, has_the_options_of_its_settings) {
  settings::WatchSettings watch = this->watch();
  watch.exclude = {"x", "y"};
  watch.links = files::LinkPolicy::files;
  watch.settle_ms = 11;
  watch.retry_timeout_s = 12;
  watch.rescan_s = 13;
  watch.poll_s = 14;
  const io::WatchOptions options = WatchedFolder(watch).options();
  EXPECT_EQ(options.root, at("in"));
  EXPECT_EQ(options.exclude, watch.exclude);
  EXPECT_EQ(options.links, files::LinkPolicy::files);
  EXPECT_EQ(options.settle_time, std::chrono::milliseconds(11));
  EXPECT_EQ(options.retry_timeout, std::chrono::seconds(12));
  EXPECT_EQ(options.rescan_interval, std::chrono::seconds(13));
  EXPECT_EQ(options.poll_interval, std::chrono::seconds(14));
}

TEST_F(WatchedFolderTest, retries_or_gives_up_by_the_reason_of_the_failure) {
  using enum FailureReason;
  const std::tuple<FailureReason, ItemResult, ItemResult> cases[] = {
      {not_found, ItemResult::incomplete, ItemResult::incomplete},
      {unreadable, ItemResult::incomplete, ItemResult::incomplete},
      {empty_file, ItemResult::incomplete, ItemResult::failed},
      {not_an_image, ItemResult::incomplete, ItemResult::failed},
      {unsupported, ItemResult::failed, ItemResult::failed},
      {too_large, ItemResult::failed, ItemResult::failed},
      {corrupt, ItemResult::incomplete, ItemResult::failed},
      {not_encodable, ItemResult::failed, ItemResult::failed},
      {output_collision, ItemResult::failed, ItemResult::failed},
      {out_of_memory, ItemResult::incomplete, ItemResult::failed},
      {not_converged, ItemResult::failed, ItemResult::failed},
      {compute_failed, ItemResult::incomplete, ItemResult::failed},
      {not_written, ItemResult::incomplete, ItemResult::failed},
      {internal, ItemResult::failed, ItemResult::failed}};
  WatchedFolder folder(watch());
  for (const auto& [reason, at_first, at_last] : cases) {
    for (const bool is_last : {false, true}) {
      pipeline::ItemPtr item = bad_item(folder, "a.png");
      item->outcome = Outcome::failed(Stage::load, reason, "why");
      item->is_last_attempt = is_last;
      publish(folder, item);
      EXPECT_EQ(item->outcome.result, is_last ? at_last : at_first)
          << to_string(reason) << (is_last ? ", last" : "");
      EXPECT_EQ(item->outcome.detail, "why");
    }
  }
  EXPECT_EQ(folder.figures().failed(), 6 + 12);
  EXPECT_EQ(folder.figures().done(), 0);
}

TEST_F(WatchedFolderTest, processes_a_failed_input_again_if_it_changes_or_is_requeued) {
  WatchedFolder folder(watch());
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  item->is_last_attempt = true;
  publish(folder, item);
  EXPECT_FALSE(needs_processing(folder, found(at("in"), "a.png")));
  std::ofstream(at("in/a.png")) << "changed";
  EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png")));
  std::ofstream(at("in/a.png")) << "bad";
  item = bad_item(folder, "a.png");
  item->is_last_attempt = true;
  publish(folder, item);
  EXPECT_FALSE(needs_processing(folder, found(at("in"), "a.png")));
  fs::remove(at("out/.eckart/quarantine/a.png.kept.json"));
  EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png")));
}

TEST_F(WatchedFolderTest, holds_an_input_on_which_the_service_stalled_twice) {
  write_image(at("in/a.png"));
  const pipeline::WorkItem item = found(at("in"), "a.png");
  for (const bool is_held : {false, true}) {
    WatchedFolder folder(watch());
    EXPECT_TRUE(needs_processing(folder, item));
    folder.record_stall({.file = item.file, .relative = item.relative, .state = item.file_state});
    EXPECT_EQ(needs_processing(folder, item), !is_held);
  }
  WatchedFolder folder(watch());
  EXPECT_FALSE(needs_processing(folder, item)) << "also after a restart";
  EXPECT_GT(fs::file_size(at("out/.eckart/stalls")), 0U);
  EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::done);
  EXPECT_EQ(fs::file_size(at("out/.eckart/stalls")), 0U) << "it is forgotten";
}

TEST_F(WatchedFolderTest, removes_a_done_input_that_an_earlier_run_could_not_remove) {
  write_image(at("in/a.png"));
  {
    WatchedFolder keeping(watch());
    ASSERT_TRUE(process(keeping, at("in"), "a.png").ok());
    EXPECT_FALSE(needs_processing(keeping, found(at("in"), "a.png")));
  }
  WatchedFolder folder(watch(DoneInputAction::remove));
  EXPECT_TRUE(needs_processing(folder, found(at("in"), "a.png")));
  EXPECT_EQ(process(folder, at("in"), "a.png").result, ItemResult::skipped);
  EXPECT_FALSE(fs::exists(at("in/a.png")));
  EXPECT_TRUE(fs::exists(at("out/a.png")));
  EXPECT_EQ(folder.figures().skipped(), 1);
}

TEST_F(WatchedFolderTest, counts_what_is_in_its_quarantine) {
  WatchedFolder folder(watch(DoneInputAction::remove));
  pipeline::ItemPtr item = bad_item(folder, "a.png");
  item->is_last_attempt = true;
  publish(folder, item);
  folder.maintain({});
  EXPECT_EQ(folder.quarantine_usage().files, 1);
  EXPECT_GE(folder.quarantine_usage().bytes, 3);
}

TEST_F(WatchedFolderTest, is_refused_with_its_place_in_the_configuration) {
  settings::WatchSettings wrong = watch();
  wrong.settings.chroma_rank = RankPolicy{5};
  const auto error = [&]() -> std::string {
    try {
      const WatchedFolder folder(wrong);
    } catch (const FatalError& fatal) {
      EXPECT_EQ(fatal.code(), ExitCode::configuration);
      return fatal.what();
    }
    return "none";
  };
  EXPECT_EQ(error(), "test: chroma_rank is set, but color is channels, not ycbcr");
  wrong = watch();
  wrong.output = at("in/out");
  EXPECT_THAT(error(), testing::StartsWith("test: "));
  wrong.exclude = {"out"};
  EXPECT_EQ(error(), "none") << "it is not scanned";
}

}  // namespace
}  // namespace eckart::app
