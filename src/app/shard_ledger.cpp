#include "app/shard_ledger.hpp"

#include <spdlog/spdlog.h>

#include <exception>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "core/error.hpp"
#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxLedgerMb = 1 << 20;

void publish_bytes(const fs::path& file, std::span<const std::byte> bytes) {
  try {
    io::publish_file(file, bytes);
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(file.native()) + ": " + error.what());
  }
}

/// What stands before the names of the folder's own ledger in those of its shards.
std::string key_prefix(const fs::path& output) {
  return (fs::weakly_canonical(output) / "").relative_path().native();
}

/// `prefix` is added to the names of outputs.
void copy_records(ledger::Ledger& from, ledger::Ledger& to, const std::string& prefix = {}) {
  constexpr int kPageRows = 1000;
  if (const auto request = from.request()) to.record_request(*request);
  to.record_settings(from.settings_texts());
  std::string after;
  for (;;) {
    ledger::LedgerChanges changes;
    changes.done = from.entries_after(after, kPageRows);
    if (changes.done.empty()) break;
    after = changes.done.back().output;
    for (ledger::OutputEntry& entry : changes.done) entry.output.insert(0, prefix);
    to.record(changes);
  }
  ledger::LedgerChanges failures;
  for (ledger::FailureEntry& failure : from.failures(std::numeric_limits<int>::max()))
    failures.failed.push_back(std::move(failure));
  to.record(failures);
}

}  // namespace

void use_folder_ledger(ledger::Ledger& shard, const fs::path& output) {
  try {
    if (auto own = ledger::Ledger::open_unchanging(ledger_file(output, settings::FileChoice{})))
      shard.use_earlier(std::move(own), key_prefix(output));
  } catch (const FatalError& error) {
    spdlog::warn("{}; outputs that only it has will be compared with new ones",
                 text::printable_message(error.what()));
  }
}

ledger::InputCounts count_published_inputs(const fs::path& ledger) {
  const io::ScratchFolder local({}, "eckart-status");
  const fs::path copy = local.path() / "copy.db";
  io::publish_file(copy, io::read_file(ledger, kMaxLedgerMb));
  const auto opened = ledger::Ledger::open_read_only(copy);
  return opened ? opened->count_inputs() : ledger::InputCounts{};
}

void move_records(const fs::path& from, const fs::path& to, const fs::path& from_folder,
                  const fs::path& to_folder) {
  if (const auto source = ledger::Ledger::open_read_only(from)) source->copy_to(to);
  ledger::Ledger(to, logged_ledger_options())
      .rename_outputs(key_prefix(from_folder).size(), key_prefix(to_folder));
}

ShardCounts publish_only_ledger(const fs::path& output, const ShardId& shard,
                                const fs::path& ledger) {
  const std::vector<fs::path> others = shard_ledgers(output, shard);
  const auto opened = ledger::Ledger::open_read_only(ledger);
  const ledger::InputCounts counts = opened ? opened->count_inputs() : ledger::InputCounts{};
  const fs::path published = shard_file_of_process(output, shard, kShardLedgerSuffix);
  publish_bytes(published, io::read_file(ledger, kMaxLedgerMb));
  std::error_code none;
  for (const fs::path& other : others) {
    if (other != published) fs::remove(other, none);
  }
  return {.done = counts.done, .failed = counts.failed};
}

ShardLedger::ShardLedger(const fs::path& output, ShardId shard)
    : output_(output),
      shard_(std::move(shard)),
      local_({}, "eckart-shard"),
      publisher_(file_, shard_file_of_process(output, shard_, kShardLedgerSuffix)) {
  for (const fs::path& published : shard_ledgers(output, shard_)) {
    try {
      merge(published);
      merged_.push_back(published);
    } catch (const std::exception& error) {
      std::error_code none;
      if (merged_.empty()) fs::remove(file_, none);
      spdlog::warn("{}: {}; its outputs will be compared with new ones",
                   text::printable(published.native()), text::printable_message(error.what()));
    }
  }
  if (merged_.empty()) ledger::Ledger(file_, logged_ledger_options());  // an empty one
}

/// SQLite opens local files only.
void ShardLedger::merge(const fs::path& published) {
  const std::vector<std::byte> bytes = io::read_file(published, kMaxLedgerMb);
  const fs::path copy = merged_.empty() ? file_ : local_.path() / "other.db";
  io::publish_file(copy, bytes);
  const auto other = ledger::Ledger::open_read_only(copy);
  if (merged_.empty()) return;
  ledger::Ledger own(file_, logged_ledger_options());
  copy_records(*other, own);
}

void ShardLedger::begin() {
  std::error_code none;
  fs::remove(mark_of(output_, shard_), none);
  publisher_.begin();
}

LedgerPublisher::LedgerPublisher(fs::path file, fs::path published)
    : file_(std::move(file)), published_(std::move(published)) {}

LedgerPublisher::~LedgerPublisher() { end(); }

void LedgerPublisher::begin() {
  thread_ = std::jthread([this](const std::stop_token& stop) {
    bool has_failed = false;
    std::unique_lock lock(mutex_);
    for (;;) {
      stopped_.wait_for(lock, stop, kInterval, [] { return false; });
      if (stop.stop_requested()) return;
      try {
        publish_copy();
        has_failed = false;
      } catch (const std::exception& error) {
        if (!has_failed)
          spdlog::warn("the ledger was not published: {}; it will be tried again",
                       text::printable_message(error.what()));
        has_failed = true;
      }
    }
  });
}

void LedgerPublisher::end() {
  if (!thread_.joinable()) return;
  thread_.request_stop();
  thread_.join();
}

void LedgerPublisher::publish() {
  end();
  publish_copy();
}

void LedgerPublisher::publish_copy() {
  const auto ledger = ledger::Ledger::open_read_only(file_);
  if (!ledger) return;
  if (const ledger::InputCounts counts = ledger->count_inputs(); counts.done + counts.failed == 0)
    return;
  const fs::path copy = file_.parent_path() / "copy.db";
  std::error_code none;
  fs::remove(copy, none);
  ledger->copy_to(copy);
  publish_bytes(published_, io::read_file(copy, kMaxLedgerMb));
}

void ShardLedger::finish() {
  publish();
  ledger::InputCounts counts;
  if (const auto ledger = ledger::Ledger::open_read_only(file_)) counts = ledger->count_inputs();
  publish_mark(output_, shard_, {.done = counts.done, .failed = counts.failed});
  std::error_code none;
  for (const fs::path& merged : std::exchange(merged_, {})) fs::remove(merged, none);
}

std::unique_ptr<MergedLedger> MergedLedger::of(const fs::path& output) {
  if (shard_ledgers(output).empty()) return nullptr;
  return std::unique_ptr<MergedLedger>(new MergedLedger(output));
}

std::unique_ptr<MergedLedger> MergedLedger::for_status(const fs::path& output) {
  std::error_code none;
  const bool has_begun = fs::exists(ledger_file(output, {}), none) || manifests_in(output).empty();
  if (shard_ledgers(output).empty() && has_begun) return nullptr;
  return std::unique_ptr<MergedLedger>(new MergedLedger(output));
}

/// Only local copies of the ledgers of shards are opened, because they may be on a network share.
MergedLedger::MergedLedger(const fs::path& output) : local_({}, "eckart-status") {
  ledger::Ledger merged(file_, logged_ledger_options());
  const auto merge = [&](const fs::path& file, const std::string& prefix) {
    try {
      if (const auto other = ledger::Ledger::open_read_only(file))
        copy_records(*other, merged, prefix);
      return true;
    } catch (const FatalError& error) {
      spdlog::warn("left out: {}", text::printable_message(error.what()));
      return false;
    }
  };
  const settings::FileChoice own{};
  merge(ledger_file(output, own), key_prefix(output));
  for (const fs::path& published : shard_ledgers(output)) {
    const fs::path copy = local_.path() / "other.db";
    try {
      io::publish_file(copy, io::read_file(published, kMaxLedgerMb));
    } catch (const ItemError& error) {  // removed meanwhile, because another has its records
      spdlog::warn("left out: {}: {}", text::printable(published.native()), error.what());
      continue;
    }
    if (merge(copy, {})) merged_.push_back(published);
  }
}

void MergedLedger::remove_sources() {
  for (const fs::path& merged : std::exchange(merged_, {})) {
    std::error_code none;
    fs::remove(merged, none);
  }
}

}  // namespace eckart::app
