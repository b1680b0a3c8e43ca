#include "app/shard_ledger.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <exception>
#include <fstream>
#include <limits>
#include <span>
#include <system_error>
#include <utility>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "hash/fnv1a.hpp"
#include "io/environment_error.hpp"
#include "io/process_token.hpp"
#include "io/publication.hpp"
#include "io/read_file.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMaxLedgerMb = 1 << 20;
constexpr const char* kManifestFile = "manifest.json";
constexpr const char* kSettingsPrefix = "settings-";

fs::path manifest_folder(const fs::path& output, const std::string& manifest) {
  return shards_folder(output) / manifest;
}

void publish_bytes(const fs::path& file, std::span<const std::byte> bytes) {
  try {
    io::publish_file(file, bytes);
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(file.native()) + ": " + error.what());
  }
}

void publish_text(const fs::path& file, const std::string& text) {
  publish_bytes(file, std::as_bytes(std::span(text)));
}

/// The files of a folder, the oldest first; empty if there is no folder. Throws EnvironmentError.
std::vector<fs::path> files_by_age(const fs::path& folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code none;
    files.emplace_back(entry->last_write_time(none), entry->path());
  }
  if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
    throw EnvironmentError(text::printable(folder.native()) + ": " + error.message());
  std::ranges::sort(files);
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (auto& [time, path] : files) paths.push_back(std::move(path));
  return paths;
}

/// Whether the file is I.json: its shard is finished.
bool is_mark(const fs::path& file) {
  return file.extension() == ".json" &&
         file.stem().native().find_first_not_of("0123456789") == std::string::npos;
}

/// Leaves 0 if the file is damaged.
void read_manifest_counts(const fs::path& file, ManifestProgress& progress) {
  std::ifstream stream(file);
  const text::Json json = text::Json::parse(stream, nullptr, /*allow_exceptions=*/false);
  const auto count = [&](const char* key) {
    const auto found = json.find(key);
    return found != json.end() && found->is_number_integer() ? found->get<std::int64_t>() : 0;
  };
  if (!json.is_object()) return;
  progress.shards = count("shards");
  progress.images = count("images");
}

bool is_ledger(const fs::path& file) { return file.extension() == ".db"; }

/// Of all shards, by manifest.
std::vector<fs::path> published_ledgers(const fs::path& output) {
  std::vector<fs::path> ledgers;
  for (const fs::path& folder : files_by_age(shards_folder(output))) {
    for (fs::path& file : files_by_age(folder))
      if (is_ledger(file)) ledgers.push_back(std::move(file));
  }
  return ledgers;
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

fs::path shards_folder(const fs::path& output) { return output / files::kStateFolder / "shards"; }

std::vector<ManifestProgress> manifests_in(const fs::path& output) {
  std::vector<ManifestProgress> manifests;
  for (const fs::path& folder : files_by_age(shards_folder(output))) {
    std::error_code none;
    if (!fs::is_directory(folder, none)) continue;
    ManifestProgress progress{.manifest = folder.filename().native()};
    for (const fs::path& file : files_by_age(folder)) {
      progress.finished_shards += is_mark(file);
      if (file.filename() == kManifestFile) read_manifest_counts(file, progress);
    }
    manifests.push_back(std::move(progress));
  }
  std::ranges::sort(manifests, {}, &ManifestProgress::manifest);
  return manifests;
}

void publish_manifest(const fs::path& output, const io::Manifest& manifest) {
  const fs::path folder = manifest_folder(output, manifest.id);
  std::error_code not_created;
  fs::create_directories(folder, not_created);
  if (not_created)
    io::fail_to_create(not_created.value(), "cannot create " + text::printable(folder.native()) +
                                                ": " + not_created.message());
  const text::Json json = {{"kind", "manifest"},
                           {"manifest", manifest.id},
                           {"shards", manifest.shards.size()},
                           {"images", manifest.images()}};
  publish_text(folder / kManifestFile, text::dump_json(json) + '\n');
}

void forget_finished_shards(const fs::path& output, const std::string& manifest) {
  for (const fs::path& file : files_by_age(manifest_folder(output, manifest))) {
    std::error_code none;
    if (is_mark(file)) fs::remove(file, none);
  }
}

std::vector<fs::path> shard_ledgers(const fs::path& output, const ShardId& shard) {
  const std::string prefix = std::to_string(shard.index) + '.';
  std::vector<fs::path> files = files_by_age(manifest_folder(output, shard.manifest));
  std::erase_if(files, [&](const fs::path& file) {
    return !is_ledger(file) || !file.filename().native().starts_with(prefix);
  });
  return files;
}

std::vector<fs::path> shard_throughput_logs(const fs::path& output) {
  std::vector<fs::path> logs;
  for (const fs::path& folder : files_by_age(shards_folder(output))) {
    for (fs::path& file : files_by_age(folder))
      if (file.extension() == ".jsonl") logs.push_back(std::move(file));
  }
  return logs;
}

void check_merged(const fs::path& output) {
  if (published_ledgers(output).empty()) return;
  throw FatalError(ExitCode::usage,
                   text::printable(output.native()) +
                       " has results of shards that its ledger does not have: first run eckart "
                       "ledger merge " +
                       text::shell_word(output.native()));
}

void remove_shard_ledgers(const fs::path& output) {
  for (const fs::path& published : published_ledgers(output)) {
    std::error_code none;
    fs::remove(published, none);
  }
}

void use_folder_ledger(ledger::Ledger& shard, const fs::path& output) {
  try {
    if (auto own = ledger::Ledger::open_unchanging(ledger_file(output, settings::FileChoice{})))
      shard.use_earlier(std::move(own), key_prefix(output));
  } catch (const FatalError& error) {
    spdlog::warn("{}; outputs that only it has will be compared with new ones",
                 text::printable_message(error.what()));
  }
}

void note_settings(const fs::path& output, const std::vector<std::string>& settings) {
  std::string all;
  for (const std::string& text : settings) all += text + '\n';
  const std::string name = fmt::format("{}{:016x}", kSettingsPrefix, hash::fnv1a(all));
  const fs::path file = shards_folder(output) / name;
  std::error_code none;
  if (!fs::exists(file, none)) publish_text(file, all);
}

bool have_shards_one_setting(const fs::path& output) {
  const std::vector<fs::path> files = files_by_age(shards_folder(output));
  return std::ranges::count_if(files, [](const fs::path& file) {
           return file.filename().native().starts_with(kSettingsPrefix);
         }) == 1;
}

ledger::InputCounts count_published_inputs(const fs::path& ledger) {
  const io::ScratchFolder local({}, "eckart-status");
  const fs::path copy = local.path() / "copy.db";
  io::publish_file(copy, io::read_file(ledger, kMaxLedgerMb));
  const auto opened = ledger::Ledger::open_read_only(copy);
  return opened ? opened->count_inputs() : ledger::InputCounts{};
}

ShardLedger::ShardLedger(const fs::path& output, ShardId shard)
    : folder_(manifest_folder(output, shard.manifest)),
      shard_(std::move(shard)),
      local_({}, "eckart-shard"),
      published_prefix_((folder_ / (std::to_string(shard_.index) + '.')).native() +
                        io::process_token()) {
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

ShardLedger::~ShardLedger() { stop_publishing(); }

void ShardLedger::begin() {
  std::error_code none;
  fs::remove(finished_file(), none);
  publisher_ = std::jthread([this](const std::stop_token& stop) {
    bool has_failed = false;
    std::unique_lock lock(mutex_);
    for (;;) {
      stopped_.wait_for(lock, stop, kPublishInterval, [] { return false; });
      if (stop.stop_requested()) return;
      try {
        publish_copy();
        has_failed = false;
      } catch (const std::exception& error) {
        if (!has_failed)
          spdlog::warn("the ledger of the shard was not published: {}; it will be tried again",
                       text::printable_message(error.what()));
        has_failed = true;
      }
    }
  });
}

fs::path ShardLedger::finished_file() const {
  return folder_ / (std::to_string(shard_.index) + ".json");
}

void ShardLedger::stop_publishing() {
  if (!publisher_.joinable()) return;
  publisher_.request_stop();
  publisher_.join();
}

void ShardLedger::publish() {
  stop_publishing();
  publish_copy();
}

void ShardLedger::publish_copy() {
  const auto ledger = ledger::Ledger::open_read_only(file_);
  if (!ledger) return;
  if (const ledger::InputCounts counts = ledger->count_inputs(); counts.done + counts.failed == 0)
    return;
  const fs::path copy = local_.path() / "copy.db";
  std::error_code none;
  fs::remove(copy, none);
  ledger->copy_to(copy);
  publish_bytes(published_prefix_ + ".db", io::read_file(copy, kMaxLedgerMb));
}

void ShardLedger::finish() {
  publish();
  ledger::InputCounts counts;
  if (const auto ledger = ledger::Ledger::open_read_only(file_)) counts = ledger->count_inputs();
  const text::Json json = {{"kind", "shard"},
                           {"manifest", shard_.manifest},
                           {"shard", shard_.index},
                           {"done", counts.done},
                           {"failed", counts.failed}};
  const std::string line = text::dump_json(json) + '\n';
  publish_bytes(finished_file(), std::as_bytes(std::span(line)));
  std::error_code none;
  for (const fs::path& merged : std::exchange(merged_, {})) fs::remove(merged, none);
}

std::unique_ptr<MergedLedger> MergedLedger::of(const fs::path& output) {
  if (published_ledgers(output).empty()) return nullptr;
  return std::unique_ptr<MergedLedger>(new MergedLedger(output));
}

/// Only local copies of the ledgers of shards are opened, because they may be on a network share.
MergedLedger::MergedLedger(const fs::path& output) : local_({}, "eckart-status") {
  ledger::Ledger merged(file_, logged_ledger_options());
  const auto merge = [&](const fs::path& file, const std::string& prefix) {
    try {
      if (const auto other = ledger::Ledger::open_read_only(file))
        copy_records(*other, merged, prefix);
    } catch (const FatalError& error) {
      spdlog::warn("left out: {}", text::printable_message(error.what()));
    }
  };
  const settings::FileChoice own{};
  merge(ledger_file(output, own), key_prefix(output));
  for (const fs::path& published : published_ledgers(output)) {
    const fs::path copy = local_.path() / "other.db";
    try {
      io::publish_file(copy, io::read_file(published, kMaxLedgerMb));
    } catch (const ItemError& error) {  // removed meanwhile, because another has its records
      spdlog::warn("left out: {}: {}", text::printable(published.native()), error.what());
      continue;
    }
    merge(copy, {});
  }
}

}  // namespace eckart::app
