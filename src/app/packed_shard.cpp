#include "app/packed_shard.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <exception>
#include <future>
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
#include "io/open_archive.hpp"
#include "io/publication.hpp"
#include "io/read_ahead.hpp"
#include "io/read_file.hpp"
#include "io/remove_folder.hpp"
#include "machine/usable_cores.hpp"
#include "pipeline/equal_outputs.hpp"
#include "reports/image_report.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

namespace fs = std::filesystem;

/// The manifests of all jobs of Slurm have one name, in folders that are named by their IDs.
fs::path archive_path(const fs::path& output, const ShardInputs& shard) {
  const std::string& id = shard.manifest.id;
  const bool is_of_job = fs::weakly_canonical(shard.file).parent_path().filename() == id;
  return output /
         fmt::format("{}-{:06}.tar", is_of_job ? id : shard.file.stem().native(), shard.index);
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

std::vector<std::byte> bytes_of(const io::InputFile& file) {
  std::vector<std::byte> bytes(std::size_t(file.size()));
  bytes.resize(file.read_at(0, bytes));
  return bytes;
}

bool are_equal(const fs::path& a, const fs::path& b) try {
  return bytes_of(io::InputFile(a)) == bytes_of(io::InputFile(b)) ||
         pipeline::are_equal_outputs(a, b);
} catch (const ItemError&) {
  return false;
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

PackedShard::~PackedShard() {
  if (!removal_.valid()) begin_removal();
}

std::optional<ShardCounts> PackedShard::finished() const {
  const std::optional<PackedRecord> record = read_packed_record(output_, shard_);
  std::error_code none;
  const bool has_results =
      fs::exists(mark_of(output_, shard_), none) || !shard_ledgers(output_, shard_).empty();
  if (!overwrite_ && !record && has_results && !fs::exists(archive_, none))
    throw FatalError(ExitCode::usage,
                     "the outputs of this shard are files in " + text::printable(output_.native()) +
                         " already: nothing was done. Use --reprocess to pack them, too, or "
                         "another output folder");
  if (overwrite_ || !record || !fs::exists(archive_, none)) return std::nullopt;
  if (record->settings != settings_hash_)
    throw FatalError(ExitCode::usage, text::printable(archive_.native()) +
                                          " was made with other settings: nothing was done. Use "
                                          "--reprocess to make it again, or another output folder");
  publish_mark(output_, shard_, record->counts);
  return record->counts;
}

void PackedShard::begin() {
  io::check_can_write_archives();
  std::error_code none;
  fs::remove(mark_of(output_, shard_), none);
  fs::remove(packed_record_of(output_, shard_), none);
}

void PackedShard::finish() {
  check_inputs_exist();
  note_settings(output_, output_settings(settings_), overwrite_);
  try {
    std::future<void> records = std::async(std::launch::async, [this] { write_records(); });
    publish_archive();
    begin_removal();
    records.get();
    publish_records();
  } catch (const ItemError& error) {
    throw FatalError(ExitCode::io_error, text::printable(archive_.native()) + ": " + error.what());
  }
}

/// Throws FatalError(temporary) if none of the inputs was there: their file system may not be
/// mounted on this node.
void PackedShard::check_inputs_exist() const {
  const auto ledger = ledger::Ledger::open_read_only(ledger_);
  const ledger::InputCounts counts = ledger ? ledger->count_inputs() : ledger::InputCounts{};
  if (counts.done > 0 || counts.failed == 0 ||
      counts.failures[std::size_t(FailureReason::not_found)] < counts.failed)
    return;
  throw FatalError(ExitCode::temporary, "none of the inputs of the shard exists here, such as " +
                                            text::printable(ledger->failures(1).front().input) +
                                            ": no archive was made");
}

/// Returns the names of the outputs, by the order of the manifest.
std::vector<std::string> PackedShard::output_names() const {
  const auto outputs = outputs_by_input(ledger_, folder());
  std::vector<std::string> names;
  const auto inputs = io::make_shard_source(shard_inputs_.file, shard_inputs_.manifest,
                                            std::size_t(shard_.index - 1));
  while (const std::optional<io::SourceItem> item = inputs->next({})) {
    const auto found = outputs.find(item->file.native());
    if (found == outputs.end()) continue;  // it failed
    names.insert(names.end(), found->second.begin(), found->second.end());
  }
  return names;
}

/// Whether the archive exists with these outputs, made by another process, perhaps on another kind
/// of machine, which rounds differently.
bool PackedShard::has_equal_archive(const std::vector<std::string>& names) const try {
  const io::ArchivePtr archive = io::open_archive(archive_);
  return archive->archive.damage().empty() && have_shards_one_setting(output_) &&
         std::ranges::equal(archive->archive.members(), names, {}, &tar::Member::name) &&
         std::ranges::all_of(names, [&](const std::string& name) {
           return are_equal(archive_ / name, folder() / name);
         });
} catch (const ItemError&) {  // there is none that can be read
  return false;
}

/// The times of members are 0 unless they are those of the inputs, so that two processes make the
/// same bytes.
void PackedShard::publish_archive() const {
  const std::vector<std::string> names = output_names();
  if (!overwrite_ && has_equal_archive(names)) {
    io::publish_index(archive_);  // its process may have been killed before it did
    return;
  }
  const bool keeps_times = settings_.output.times == settings::OutputTimes::keep;
  io::ArchiveFile archive(archive_);
  io::ReadAhead files(folder(), names);
  for (const std::string& name : names) {
    const io::ReadAhead::File file = files.next();
    if (file.failure) throw ItemError(*file.failure);
    archive.add(name, file.bytes, keeps_times ? file.mtime_ns : 0);
  }
  try {
    archive.publish(overwrite_);
  } catch (const FatalError&) {
    if (overwrite_ || !has_equal_archive(names)) throw;  // otherwise another process was faster
    io::publish_index(archive_);
  }
}

/// Writes the records of the run, for outputs in the archive, to local files.
void PackedShard::write_records() const {
  move_records(ledger_, records_, folder(), archive_);
  reports::ImageReport report(report_);
  add_ledger_records(report, archive_, settings::FileChoice::at(records_));
  report.close();
}

void PackedShard::publish_records() const {
  constexpr std::int64_t kMaxReportMb = 1 << 20;
  io::publish_file(report_path(archive_), io::read_file(report_, kMaxReportMb));
  const ShardCounts counts = publish_only_ledger(output_, shard_, records_);
  publish_packed_record(output_, shard_, {.counts = counts, .settings = settings_hash_});
  publish_mark(output_, shard_, counts);
}

/// The outputs are in the archive, or the shard has failed.
void PackedShard::begin_removal() noexcept {
  try {
    removal_ = std::async(std::launch::async,
                          [this] { io::remove_folder(folder(), machine::usable_cores()); });
  } catch (const std::exception&) {  // there is no thread: ~ScratchFolder() does it
  }
}

fs::path report_path(const fs::path& archive) {
  return fs::path(archive).replace_extension(".report.jsonl");
}

}  // namespace eckart::app
