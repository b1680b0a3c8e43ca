#include "app/shard_files.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "files/state_folder.hpp"
#include "hash/fnv1a.hpp"
#include "io/environment_error.hpp"
#include "io/process_token.hpp"
#include "io/publication.hpp"
#include "text/json.hpp"
#include "text/printable.hpp"
#include "text/shell_word.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

constexpr const char* kWorkersFolder = "workers";
constexpr const char* kManifestFile = "manifest.json";
constexpr const char* kSettingsPrefix = "settings-";
constexpr const char* kLogExtension = ".jsonl";

fs::path manifest_folder(const fs::path& output, const std::string& manifest) {
  return shards_folder(output) / manifest;
}

void publish_text(const fs::path& file, const std::string& text) {
  try {
    io::publish_file(file, std::as_bytes(std::span(text)));
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(file.native()) + ": " + error.what());
  }
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

/// Of all manifests.
std::vector<fs::path> files_with(const std::string& extension, const fs::path& output) {
  std::vector<fs::path> found;
  for (const fs::path& folder : files_by_age(shards_folder(output))) {
    for (fs::path& file : files_by_age(folder))
      if (file.extension() == extension) found.push_back(std::move(file));
  }
  return found;
}

/// The same for any order of the outputs.
std::string joined(std::vector<std::string> settings) {
  std::ranges::sort(settings);
  std::string all;
  for (const std::string& text : settings) all += text + '\n';
  return all;
}

fs::path settings_file(const fs::path& output, const std::vector<std::string>& settings) {
  return shards_folder(output) /
         fmt::format("{}{:016x}", kSettingsPrefix, hash::fnv1a(joined(settings)));
}

/// The notes of settings, the oldest first.
std::vector<fs::path> settings_files(const fs::path& output) {
  std::vector<fs::path> files = files_by_age(shards_folder(output));
  std::erase_if(files, [](const fs::path& file) {
    return !file.filename().native().starts_with(kSettingsPrefix);
  });
  return files;
}

}  // namespace

fs::path shards_folder(const fs::path& output) { return output / files::kStateFolder / "shards"; }

std::vector<ManifestProgress> manifests_in(const fs::path& output) {
  std::vector<ManifestProgress> manifests;
  for (const fs::path& folder : files_by_age(shards_folder(output))) {
    std::error_code none;
    if (!fs::is_directory(folder, none) || folder.filename() == kWorkersFolder) continue;
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

fs::path mark_of(const fs::path& output, const ShardId& shard) {
  return manifest_folder(output, shard.manifest) / (std::to_string(shard.index) + ".json");
}

fs::path shard_file_of_process(const fs::path& output, const ShardId& shard,
                               const std::string& suffix) {
  return mark_of(output, shard).replace_extension(io::process_token() + suffix);
}

void publish_mark(const fs::path& output, const ShardId& shard, const ShardCounts& counts) {
  const text::Json json = {{"kind", "shard"},
                           {"manifest", shard.manifest},
                           {"shard", shard.index},
                           {"done", counts.done},
                           {"failed", counts.failed}};
  publish_text(mark_of(output, shard), text::dump_json(json) + '\n');
}

fs::path packed_record_of(const fs::path& output, const ShardId& shard) {
  return mark_of(output, shard).replace_extension("packed");
}

void publish_packed_record(const fs::path& output, const ShardId& shard,
                           const PackedRecord& record) {
  const text::Json json = {{"kind", "packed_shard"},
                           {"settings", record.settings},
                           {"done", record.counts.done},
                           {"failed", record.counts.failed}};
  publish_text(packed_record_of(output, shard), text::dump_json(json) + '\n');
}

std::optional<PackedRecord> read_packed_record(const fs::path& output, const ShardId& shard) try {
  std::ifstream stream(packed_record_of(output, shard));
  const text::Json json = text::Json::parse(stream);
  return PackedRecord{.counts = {.done = json.at("done").get<std::int64_t>(),
                                 .failed = json.at("failed").get<std::int64_t>()},
                      .settings = json.at("settings").get<std::string>()};
} catch (const text::Json::exception&) {  // there is none
  return std::nullopt;
}

std::vector<fs::path> shard_ledgers(const fs::path& output, const ShardId& shard) {
  const std::string prefix = std::to_string(shard.index) + '.';
  std::vector<fs::path> files = files_by_age(manifest_folder(output, shard.manifest));
  std::erase_if(files, [&](const fs::path& file) {
    return file.extension() != kShardLedgerSuffix || !file.filename().native().starts_with(prefix);
  });
  return files;
}

std::vector<fs::path> shard_ledgers(const fs::path& output) {
  return files_with(kShardLedgerSuffix, output);
}

std::vector<fs::path> shard_throughput_logs(const fs::path& output) {
  return files_with(kLogExtension, output);
}

std::string worker_file_prefix(const fs::path& output) {
  return (shards_folder(output) / kWorkersFolder / "1.").native();
}

void check_merged(const fs::path& output) {
  if (shard_ledgers(output).empty()) return;
  throw FatalError(ExitCode::usage,
                   text::printable(output.native()) +
                       " has results of shards that its ledger does not have: first run eckart "
                       "ledger merge " +
                       text::shell_word(output.native()));
}

void note_settings(const fs::path& output, const std::vector<std::string>& settings,
                   bool makes_newest) {
  const fs::path file = settings_file(output, settings);
  std::error_code none;
  if (fs::exists(file, none) && (!makes_newest || are_newest_settings(output, settings))) return;
  const std::vector<fs::path> others = settings_files(output);
  publish_text(file, joined(settings));
  if (!makes_newest || others.empty()) return;
  // Their times may be of other machines, with other clocks.
  const auto newest = fs::last_write_time(others.back(), none);
  const auto now = fs::last_write_time(file, none);
  fs::last_write_time(file, std::max(now, newest + std::chrono::milliseconds(1)), none);
}

std::vector<std::vector<std::string>> noted_settings(const fs::path& output) {
  std::vector<std::vector<std::string>> noted;
  for (const fs::path& file : settings_files(output)) {
    std::ifstream stream(file);
    std::vector<std::string>& texts = noted.emplace_back();
    for (std::string text; std::getline(stream, text);) texts.push_back(text);
  }
  return noted;
}

bool are_newest_settings(const fs::path& output, const std::vector<std::string>& settings) {
  const std::vector<fs::path> files = settings_files(output);
  const fs::path own = settings_file(output, settings);
  const auto time = [](const fs::path& file) {
    std::error_code none;
    return fs::last_write_time(file, none);
  };
  return std::ranges::find(files, own) != files.end() && time(own) >= time(files.back());
}

bool have_shards_one_setting(const fs::path& output) { return settings_files(output).size() == 1; }

}  // namespace eckart::app
