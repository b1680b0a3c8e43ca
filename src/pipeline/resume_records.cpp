// The functions of Resume that record outputs in the ledger.
#include <sys/stat.h>

#include <algorithm>
#include <utility>

#include "io/read_file.hpp"
#include "pipeline/output_quality.hpp"
#include "pipeline/resume.hpp"
#include "telemetry/json/measurement_json.hpp"

namespace eckart::pipeline {
/// Records an output that a killed run published as done, with the settings of that run. Its report
/// was lost.
void Resume::record_kept_intent(const WorkItem& item, std::size_t output,
                                ledger::OutputEntry intent, const PathStatus& path_status) const {
  if (ledger_.is_read_only()) return;
  intent.output_mtime_ns = path_status.mtime_ns;  // the file system may have rounded it
  if (needs_input_update(intent, item)) {
    ledger::OutputEntry input = input_entry(item, item.outputs[output]);
    intent.input = std::move(input.input);
    intent.root_length = input.root_length;
    intent.state = input.state;
    if (!input.content_hash.empty()) intent.content_hash = std::move(input.content_hash);
  }
  ledger::LedgerChanges changes;
  changes.done.push_back(std::move(intent));
  ledger_.record(changes);
}

ledger::OutputEntry Resume::output_entry(const WorkItem& item, std::size_t output) const {
  ledger::OutputEntry entry = input_entry(item, item.outputs[output]);
  entry.settings = settings_[output];
  entry.output_index = int(output);
  return entry;
}

void Resume::add_intents(std::span<WorkItem* const> items, ledger::LedgerChanges& changes) const {
  for (const WorkItem* item : items) {
    if (!item->outcome.ok()) continue;
    for (std::size_t i = 0; i < item->outputs.size(); ++i) {
      if (item->is_output_skipped(i)) continue;
      ledger::OutputEntry& entry = changes.intents.emplace_back(output_entry(*item, i));
      entry.bytes = item->output_bytes[i];
      entry.output_mtime_ns = item->output_mtimes_ns[i];
    }
  }
}

void Resume::abandon_intents(std::span<WorkItem* const> items) const {
  ledger::LedgerChanges changes;
  for (const WorkItem* item : items) remove_intents(*item, changes);
  ledger_.record(changes);
}

/// Syncs the intents before files are renamed. Even after a power failure, every published file has
/// an intent.
void Resume::record(std::span<WorkItem* const> items, std::span<WorkItem* const> next) const {
  ledger::LedgerChanges changes;
  add_results(items, changes);
  add_intents(next, changes);
  changes.sync = !changes.intents.empty() || options_.syncs_results;
  ledger_.record(changes);
}

void Resume::add_results(std::span<WorkItem* const> items, ledger::LedgerChanges& changes) const {
  for (const WorkItem* item : items) {
    const Outcome& outcome = item->outcome;
    if (outcome.will_be_retried()) continue;
    if (outcome.result == ItemResult::skipped) {
      const std::string input = absolute(item->file);
      if (had_failures_ || suspects_.contains(input)) changes.cleared.push_back(input);
      if (!item->needs_input_update) continue;
      for (const auto& output : item->outputs)
        changes.input_updates.push_back(input_entry(*item, output));
      continue;
    }
    if (!outcome.ok()) {
      changes.failed.push_back(
          {absolute(item->file), item->file_state, outcome.reason, outcome.detail});
      remove_intents(*item, changes);
      continue;
    }
    for (std::size_t i = 0; i < item->outputs.size(); ++i) {
      if (item->is_output_skipped(i)) {
        if (item->needs_input_update && item->is_output_kept(i))
          changes.input_updates.push_back(input_entry(*item, item->outputs[i]));
        continue;
      }
      ledger::OutputEntry& done = changes.done.emplace_back(output_entry(*item, i));
      done.bytes = item->output_bytes[i];
      if (item->publication.has_known_mtimes()) {
        done.output_mtime_ns = item->output_mtimes_ns[i];
      } else {  // the file may be one that another process made
        const PathStatus at_path = stat_path(item->outputs[i]);
        const bool is_file = at_path.type == std::filesystem::file_type::regular;
        if (is_file) done.bytes = at_path.bytes;
        done.output_mtime_ns = is_file ? at_path.mtime_ns : 0;
      }
      done.report = telemetry::json_values(output_measurement(*item, i));
      done.report_keys = telemetry::json_keys();
    }
    if (!item->unavailable_outputs.empty())
      changes.failed.push_back({absolute(item->file), item->file_state, FailureReason::unsupported,
                                item->unavailable_reason});
  }
}

/// Removes the intents of an item that was not published. Keeps the intents of outputs that are at
/// their final paths.
void Resume::remove_intents(const WorkItem& item, ledger::LedgerChanges& changes) const {
  for (std::size_t i = 0; i < item.output_mtimes_ns.size(); ++i) {
    if (item.is_output_skipped(i)) continue;
    const PathStatus path_status = stat_path(item.outputs[i]);
    if (path_status.error != 0) continue;  // the output may exist
    if (path_status.bytes != item.output_bytes[i] ||
        path_status.mtime_ns != item.output_mtimes_ns[i])
      changes.abandoned_intents.push_back(
          {relative_to_root(item.outputs[i]), item.output_bytes[i], item.output_mtimes_ns[i]});
  }
}

void Resume::record_removed_inputs(std::span<WorkItem* const> items) const {
  ledger::LedgerChanges changes;
  for (const WorkItem* item : items) {
    for (const auto& output : item->outputs)
      changes.outputs_without_input.push_back(relative_to_root(output));
  }
  ledger_.record(changes);
}

/// Checks twice, the second time inside the ledger transaction. A new output is renamed before it
/// is recorded as done, so it is never taken for missing.
std::optional<std::string> Resume::forget_missing_outputs(
    const std::string& after,
    const std::function<bool(const std::filesystem::path& output)>& is_missing) const {
  constexpr int kMaxOutputs = 16;  // few, because other threads wait to record
  if (after.empty()) remove_stale_intents(is_missing);
  std::vector<std::string> outputs = ledger_.outputs_after(after, kMaxOutputs);
  if (outputs.empty()) return std::nullopt;
  std::string last = outputs.back();
  const auto keep_missing = [&] {
    std::erase_if(outputs, [&](const std::string& output) { return !is_missing(root_ / output); });
    return outputs;
  };
  if (!keep_missing().empty()) ledger_.remove_outputs(keep_missing);
  return last;
}

/// Keeps the intents of this run and of other runs that share the ledger: between intent and
/// rename, the output does not exist yet.
void Resume::remove_stale_intents(
    const std::function<bool(const std::filesystem::path& output)>& is_missing) const {
  if (is_shared()) return;
  ledger::LedgerChanges changes;
  for (const ledger::OutputEntry& intent : ledger_.intents()) {
    if (intent.run < ledger_.run() && is_missing(root_ / intent.output))
      changes.abandoned_intents.push_back({intent.output, intent.bytes, intent.output_mtime_ns});
  }
  ledger_.record(changes);
}

void Resume::record_suspects(const std::vector<const WorkItem*>& items) const {
  std::vector<ledger::Suspect> suspects;
  for (const WorkItem* item : items) {
    const std::string input = absolute(item->file);
    suspects.push_back({input, item->file_state, losses(input, item->file_state) + 1});
  }
  ledger_.record_suspects(suspects);
}

ledger::OutputEntry Resume::input_entry(const WorkItem& item,
                                        const std::filesystem::path& output) const {
  InputIdentity input = identity(item);
  return {.output = relative_to_root(output),
          .input = std::move(input.path),
          .settings = 0,
          .state = input.state,
          .root_length = input.root_length,
          .content_hash = std::move(input.content_hash)};
}

}  // namespace eckart::pipeline
