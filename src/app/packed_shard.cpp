#include "app/packed_shard.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/ledger_report.hpp"
#include "app/output_settings.hpp"
#include "app/shard_ledger.hpp"
#include "core/error.hpp"
#include "hash/fnv1a.hpp"
#include "io/archive_file.hpp"
#include "io/input_file.hpp"
#include "reports/image_report.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

fs::path archive_path(const fs::path& output, const ShardInputs& shard) {
  return output / fmt::format("{}-{:06}.tar", shard.file.stem().native(), shard.index);
}

std::string hash_of(const settings::Settings& settings) {
  std::string all;
  for (const std::string& text : output_settings(settings)) all += text + '\n';
  return fmt::format("{:016x}", hash::fnv1a(all));
}

settings::Settings settings_for_run(settings::Settings settings, const fs::path& ledger) {
  settings.ledger = settings::FileChoice::at(ledger);
  settings.durability = settings::Durability::none;
  return settings;
}

/// The names of the outputs of each input, in order.
std::unordered_map<std::string, std::vector<std::string>> outputs_by_input(
    const fs::path& ledger_file, const fs::path& folder) {
  std::unordered_map<std::string, std::vector<std::pair<int, std::string>>> found;
  const auto choice = settings::FileChoice::at(ledger_file);
  const auto ledger = open_existing_ledger(folder, choice);
  LedgerOutputs(*ledger, folder, choice).for_each([&](const ledger::OutputEntry& entry) {
    found[entry.input].emplace_back(entry.output_index, entry.output);
  });
  std::unordered_map<std::string, std::vector<std::string>> names;
  for (auto& [input, outputs] : found) {
    std::ranges::sort(outputs);
    for (auto& [index, name] : outputs) names[input].push_back(std::move(name));
  }
  return names;
}

void add_file(io::ArchiveFile& archive, const fs::path& folder, const std::string& name,
              bool keeps_time) {
  const io::InputFile file(folder / name);
  std::vector<std::byte> bytes(std::size_t(file.size()));
  bytes.resize(file.read_at(0, bytes));
  archive.add(name, bytes, keeps_time ? file.state().mtime_ns : 0);
}

}  // namespace

PackedShard::PackedShard(fs::path output, const ShardInputs& shard,
                         const settings::Settings& settings, bool overwrite)
    : output_(std::move(output)),
      shard_inputs_(shard),
      shard_{.manifest = shard.manifest.id, .index = shard.index},
      scratch_({}, "eckart-pack"),
      archive_(archive_path(output_, shard)),
      settings_hash_(hash_of(settings)),
      settings_(settings_for_run(settings, ledger_)),
      overwrite_(overwrite) {}

std::optional<ShardCounts> PackedShard::finished() const {
  const std::optional<ShardMark> mark = read_mark(output_, shard_);
  std::error_code none;
  if (!mark || !fs::exists(archive_, none)) return std::nullopt;
  if (overwrite_) return std::nullopt;
  if (mark->settings != settings_hash_)
    throw FatalError(ExitCode::usage, text::printable(archive_.native()) +
                                          " was made with other settings: nothing was done. Use "
                                          "--reprocess to make it again, or another output folder");
  return mark->counts;
}

void PackedShard::begin() {
  std::error_code none;
  fs::remove(mark_of(output_, shard_), none);
}

void PackedShard::finish() {
  try {
    publish_archive();
    publish_records();
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(archive_.native()) + ": " + error.what());
  }
}

/// Two processes that work on one shard make the same bytes: times of members are 0, unless they
/// are those of the inputs.
void PackedShard::publish_archive() const {
  const auto outputs = outputs_by_input(ledger_, folder());
  const bool keeps_times = settings_.output.times == settings::OutputTimes::keep;
  io::ArchiveFile archive(archive_);
  const auto inputs = io::make_shard_source(shard_inputs_.file, shard_inputs_.manifest,
                                            std::size_t(shard_.index - 1));
  while (const std::optional<io::SourceItem> item = inputs->next({})) {
    const auto found = outputs.find(item->file.native());
    if (found == outputs.end()) continue;  // it failed
    for (const std::string& name : found->second) add_file(archive, folder(), name, keeps_times);
  }
  archive.publish(overwrite_);
}

void PackedShard::publish_records() const {
  const fs::path records = scratch_.path() / "records.db";
  move_records(ledger_, records, folder(), archive_);
  reports::ImageReport report(report_path(archive_));
  add_ledger_records(report, archive_, settings::FileChoice::at(records));
  report.close();
  publish_finished(output_, shard_, records, settings_hash_);
}

fs::path report_path(const fs::path& archive) {
  return fs::path(archive).replace_extension(".report.jsonl");
}

}  // namespace eckart::app
