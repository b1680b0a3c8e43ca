#include "pipeline/resume.hpp"

#include <spdlog/spdlog.h>
#include <sys/stat.h>

#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "io/content_hash.hpp"
#include "io/file.hpp"
#include "pipeline/output_quality.hpp"
#include "telemetry/image_report.hpp"

namespace eckart {
namespace {

/// Nothing where it is gone, or may not be searched.
std::filesystem::path current_folder() {
  std::error_code none;
  return std::filesystem::current_path(none);
}

/// 0 where it is not known.
std::int64_t mtime_of(const std::filesystem::path& output) {
  struct stat status {};
  return ::lstat(output.c_str(), &status) == 0 ? io::state_of(status).mtime_ns : 0;
}

}  // namespace

Resume::Resume(ledger::Ledger& ledger, ResumeOptions options)
    : ledger_(ledger),
      options_(std::move(options)),
      had_failures_(!ledger.failed(1).empty()),
      current_(current_folder()),
      root_(absolute(options_.root)) {
  for (const std::string& text : options_.settings)
    settings_.push_back(ledger::settings_hash(text));
  if (!options_.on_gpu) return;
  for (ledger::Suspect& suspect : ledger_.suspects())
    suspects_.emplace(suspect.input, std::move(suspect));
}

void Resume::check(WorkItem& item, const io::InputFile* open) const {
  item.state = open ? open->state() : io::state_of(item.file);
  item.wants_content = options_.by_content;
  const std::vector<LookedAt> outputs = look_at_outputs(item);
  if (options_.by_content) hash_content(item, open, outputs);
  compare_inputs(item, open, outputs);
  bool done = true;
  item.done_before.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [standing, known] = outputs[i];
    OutputPlace place = place_of(item, i, known, standing);
    if (place.kind == OutputPlace::Kind::taken) refuse(item.outputs[i], place);
    const bool stays = place.kind == OutputPlace::Kind::same;
    done &= stays;
    item.moved |= known.entry && is_moved(*known.entry, item);
    item.done_before.push_back(stays ? std::optional(std::move(place.measured)) : std::nullopt);
  }
  if (!done) return mark_suspect(item, absolute(item.file));
  item.outcome = {Result::skipped, Stage::load, Reason::none, "done before"};
}

/// The ledger is asked only where something stands: what stands nowhere is made, whatever is known.
std::vector<Resume::LookedAt> Resume::look_at_outputs(const WorkItem& item) const {
  std::vector<LookedAt> outputs;
  for (const auto& output : item.outputs) {
    LookedAt looked_at{.standing = look_at(output)};
    if (looked_at.standing.type != std::filesystem::file_type::not_found)
      looked_at.known = find_known(ledger_, below_root(output), looked_at.standing);
    outputs.push_back(std::move(looked_at));
  }
  return outputs;
}

bool Resume::is_done(const WorkItem& item) const {
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    if (place_of(item, i).kind != OutputPlace::Kind::same) return false;
  }
  return true;
}

OutputPlace Resume::place_of(const WorkItem& item, std::size_t output) const {
  const Standing standing = look_at(item.outputs[output]);
  const KnownOutput known = find_known(ledger_, below_root(item.outputs[output]), standing);
  return place_of(item, output, known, standing);
}

OutputPlace Resume::place_of(const WorkItem& item, std::size_t output, const KnownOutput& known,
                             const Standing& standing) const {
  OutputPlace place = judge({.input = identity(item),
                             .settings = settings_[output],
                             .on_change = options_.on_change,
                             .first_run = options_.first_run},
                            known, standing);
  if (place.made_with_other) place.why = difference(known.entry->settings, output);
  return place;
}

/// Of the settings of a result from those that this output has now.
std::string Resume::difference(std::uint64_t made_with, std::size_t output) const {
  const std::lock_guard lock(differences_mutex_);
  std::string& text = differences_[{made_with, output}];
  if (text.empty())
    text = settings_difference(ledger_.settings_text(made_with), options_.settings[output]);
  return text;
}

bool Resume::has_made(const WorkItem& item,
                      const std::vector<std::filesystem::path>& outputs) const {
  if (look_at(outputs.front()).type != std::filesystem::file_type::regular) return false;
  const auto known = ledger_.find(below_root(outputs.front()));
  return known && known->input == absolute(item.file);
}

bool Resume::is_of_neighbor(const WorkItem& item) const {
  const std::filesystem::path input = absolute(item.file);
  for (const auto& output : item.outputs) {
    if (look_at(output).type == std::filesystem::file_type::not_found) continue;
    const auto known = ledger_.find(below_root(output));
    if (!known || known->input == input) continue;
    const std::filesystem::path other = known->input;
    if (other.parent_path() == input.parent_path()) return true;
  }
  return false;
}

InputIdentity Resume::identity(const WorkItem& item) const {
  std::string path = absolute(item.file);
  const std::size_t root = root_size(path, item.relative);
  return {std::move(path), root, item.state, item.content, item.copy_of};
}

bool Resume::is_moved(const ledger::Entry& known, const WorkItem& item) const {
  const InputIdentity input = identity(item);
  return known.input != input.path || known.root_size != input.root_size ||
         known.state != input.state || (!input.content.empty() && known.content != input.content);
}

/// Where none of the item's outputs was made from a file of its size, nothing is asked for it.
void Resume::hash_content(WorkItem& item, const io::InputFile* open,
                          std::span<const LookedAt> outputs) const {
  for (const auto& [standing, known] : outputs) {
    if (!known.entry || known.entry->state.size != item.state.size) continue;
    item.content = open ? io::content_hash(*open) : io::content_hash(io::InputFile(item.file));
    return;
  }
}

/// Here and nowhere else: what scans, or publishes, has no time to read both files.
void Resume::compare_inputs(WorkItem& item, const io::InputFile* open,
                            std::span<const LookedAt> outputs) const {
  item.copy_of.clear();
  for (const auto& [standing, known] : outputs) {
    const InputIdentity input = identity(item);
    if (known.entry && same_input(*known.entry, input) == SameInput::maybe &&
        is_moved_or_copied(known.entry->input, input.path, open))
      item.copy_of.push_back(known.entry->input);
  }
}

bool Resume::has_failed(const WorkItem& item) const {
  const auto failure = ledger_.find_failure(absolute(item.file));
  return failure && failure->state == item.state;
}

void Resume::mark_suspect(WorkItem& item, const std::string& input) const {
  constexpr int kMostLosses = 2;  // the first may be another's, the second is its own
  const int losses = this->losses(input, item.state);
  item.suspect = losses > 0;
  item.task.off_gpu = losses >= kMostLosses;
  if (item.task.off_gpu && !ledger_.is_read_only())
    spdlog::warn("{}: the GPU was lost {} times while it was computed: the CPU does it",
                 printable(item.file.native()), losses);
}

int Resume::losses(const std::string& input, const FileState& state) const {
  const auto known = suspects_.find(input);
  return known != suspects_.end() && known->second.state == state ? known->second.losses : 0;
}

ledger::Entry Resume::output_entry(const WorkItem& item, std::size_t output) const {
  ledger::Entry entry = input_entry(item, item.outputs[output]);
  entry.settings = settings_[output];
  entry.part = int(output);
  return entry;
}

/// On the disk before the files are at their places: after a power cut, too, none is there that was
/// not announced.
void Resume::announce(std::span<WorkItem* const> items) const {
  ledger::Changes changes;
  changes.sync = true;
  for (const WorkItem* item : items) {
    if (!item->outcome.ok()) continue;
    for (std::size_t i = 0; i < item->outputs.size(); ++i) {
      if (item->is_done_before(i)) continue;
      ledger::Entry& entry = changes.announced.emplace_back(output_entry(*item, i));
      entry.bytes = item->file_bytes[i];
      entry.output_mtime_ns = item->file_mtimes_ns[i];
    }
  }
  ledger_.record(changes);
}

void Resume::record(std::span<WorkItem* const> items) const {
  ledger::Changes changes;
  for (const WorkItem* item : items) {
    const Outcome& outcome = item->outcome;
    if (outcome.result == Result::deferred) continue;
    const std::string input = absolute(item->file);
    if (outcome.result == Result::skipped) {
      if (had_failures_ || suspects_.contains(input)) changes.cleared.push_back(input);
      if (!item->moved) continue;
      for (const auto& output : item->outputs) changes.moved.push_back(input_entry(*item, output));
      continue;
    }
    if (!outcome.ok()) {
      changes.failed.push_back({input, item->state, outcome.reason, outcome.detail});
      forget_announced(*item, changes);
      continue;
    }
    for (std::size_t i = 0; i < item->outputs.size(); ++i) {
      if (item->is_done_before(i)) {
        if (item->moved) changes.moved.push_back(input_entry(*item, item->outputs[i]));
        continue;
      }
      ledger::Entry& done = changes.done.emplace_back(output_entry(*item, i));
      done.bytes = item->file_bytes[i];
      done.output_mtime_ns = mtime_of(item->outputs[i]);
      done.report = telemetry::measured_text(line_of_output(*item, i));
    }
  }
  ledger_.record(changes);
}

/// Of an item that failed: what of its outputs is at its place all the same stays announced.
void Resume::forget_announced(const WorkItem& item, ledger::Changes& changes) const {
  for (std::size_t i = 0; i < item.file_mtimes_ns.size(); ++i) {
    if (item.is_done_before(i)) continue;
    const Standing standing = look_at(item.outputs[i]);
    if (standing.bytes != item.file_bytes[i] || standing.mtime_ns != item.file_mtimes_ns[i])
      changes.unpublished.push_back(
          {below_root(item.outputs[i]), item.file_bytes[i], item.file_mtimes_ns[i]});
  }
}

void Resume::record_taken(std::span<WorkItem* const> items) const {
  ledger::Changes changes;
  for (const WorkItem* item : items) {
    for (const auto& output : item->outputs) changes.taken.push_back(below_root(output));
  }
  ledger_.record(changes);
}

/// Looks twice, and at the second time while nothing is recorded: a new output is at its place
/// before it is recorded as done, so that it is never taken for gone.
std::optional<std::string> Resume::forget_gone(
    const std::string& after,
    const std::function<bool(const std::filesystem::path& output)>& is_gone) const {
  constexpr int kMost = 16;  // little, for who waits to record
  std::vector<std::string> outputs = ledger_.outputs_after(after, kMost);
  if (outputs.empty()) return std::nullopt;
  std::string last = outputs.back();
  const auto keep_gone = [&] {
    std::erase_if(outputs, [&](const std::string& output) { return !is_gone(root_ / output); });
    return outputs;
  };
  if (!keep_gone().empty()) ledger_.forget(keep_gone);
  return last;
}

void Resume::record_lost(const std::vector<const WorkItem*>& items) const {
  std::vector<ledger::Suspect> suspects;
  for (const WorkItem* item : items) {
    const std::string input = absolute(item->file);
    suspects.push_back({input, item->state, losses(input, item->state) + 1});
  }
  ledger_.record_suspects(suspects);
}

/// With what is known of its input.
ledger::Entry Resume::input_entry(const WorkItem& item, const std::filesystem::path& output) const {
  InputIdentity input = identity(item);
  return {.output = below_root(output),
          .input = std::move(input.path),
          .settings = 0,
          .state = input.state,
          .root_size = input.root_size,
          .content = std::move(input.content)};
}

std::string Resume::absolute(const std::filesystem::path& path) const {
  return (current_ / path).lexically_normal().native();
}

std::string Resume::below_root(const std::filesystem::path& output) const {
  return (current_ / output).lexically_normal().lexically_relative(root_).native();
}

}  // namespace eckart
