// The functions of Resume that decide about outputs.
#include "pipeline/resume.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/content_hash.hpp"
#include "io/read_file.hpp"
#include "pipeline/normal_path.hpp"
#include "telemetry/json/measurement_json.hpp"
#include "text/printable.hpp"

namespace eckart::pipeline {
namespace {

/// Empty if the folder was removed or is not accessible.
std::filesystem::path current_folder() {
  std::error_code none;
  return std::filesystem::current_path(none);
}

}  // namespace

Resume::Resume(ledger::Ledger& ledger, ResumeOptions options)
    : ledger_(ledger),
      options_(std::move(options)),
      had_failures_(!ledger.failures(1).empty()),
      had_outputs_(!ledger.outputs_after("", 1).empty() || !ledger.intents().empty()),
      current_folder_(current_folder()),
      root_(absolute(options_.root)) {
  for (const std::string& text : options_.settings)
    settings_.push_back(ledger::settings_hash(text));
  if (!options_.factors_settings.empty()) {
    for (const std::string& text : ledger_.settings_texts())
      if (are_usable_factors(text, options_.factors_settings))
        factors_settings_.insert(ledger::settings_hash(text));
  }
  if (!options_.uses_gpu) return;
  for (ledger::Suspect& suspect : ledger_.suspects())
    suspects_.emplace(suspect.input, std::move(suspect));
}

void Resume::check(WorkItem& item, const io::InputFile* open) const {
  item.file_state = open ? open->state() : io::state_of(item.file);
  item.needs_content_hash = options_.compares_content;
  const std::vector<ObservedOutput> outputs = observe_outputs(item);
  if (options_.compares_content) hash_content(item, open, outputs);
  compare_inputs(item, open, outputs);
  bool done = true;
  item.skipped_reports.clear();
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& [path_status, known] = outputs[i];
    OutputDecision decision = decision_for(item, i, known, path_status);
    if (decision.action == OutputAction::reject) throw_output_collision(item.outputs[i], decision);
    const bool is_kept = decision.action == OutputAction::skip;
    done &= is_kept;
    item.needs_input_update |= known.entry && needs_input_update(*known.entry, item);
    item.skipped_reports.push_back(is_kept ? std::optional(std::move(decision.report))
                                           : std::nullopt);
  }
  if (!done) return mark_suspect(item, absolute(item.file));
  // Only for skipped items: record_kept_intent() records an output as done, and that clears the
  // suspect. Other items are recorded after publishing.
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].known.is_intent)
      record_kept_intent(item, i, *outputs[i].known.entry, outputs[i].path_status);
  }
  item.outcome = {ItemResult::skipped, Stage::load, FailureReason::none, "already done"};
}

/// Queries the ledger only if a file exists: a missing output is always made.
std::vector<Resume::ObservedOutput> Resume::observe_outputs(const WorkItem& item) const {
  std::vector<ObservedOutput> outputs;
  for (const auto& output : item.outputs) {
    ObservedOutput observed{.path_status = {.type = std::filesystem::file_type::not_found}};
    if (!item.outputs_are_free) observed.path_status = stat_path(output);
    check_status_available(output, observed.path_status);
    if (observed.path_status.type != std::filesystem::file_type::not_found)
      observed.known =
          find_recorded_output(ledger_, relative_to_root(output), observed.path_status);
    outputs.push_back(std::move(observed));
  }
  return outputs;
}

/// An item is not done if the status of an output is unavailable, which check() reports, or if an
/// output is not recorded, which check() does.
bool Resume::is_done(const WorkItem& item) const {
  for (std::size_t i = 0; i < item.outputs.size(); ++i) {
    const PathStatus path_status = stat_path(item.outputs[i]);
    if (path_status.type == std::filesystem::file_type::none) return false;
    const std::string output = relative_to_root(item.outputs[i]);
    const RecordedOutput known = find_recorded_output(ledger_, output, path_status);
    if (known.is_intent || decision_for(item, i, known, path_status).action != OutputAction::skip)
      return false;
  }
  return true;
}

std::optional<KeptFactors> Resume::find_factors(
    const WorkItem& item, std::span<const std::filesystem::path> files) const {
  if (!may_have_factors()) return std::nullopt;
  for (const auto& file : files) {
    const PathStatus path_status = stat_path(file);
    const RecordedOutput known = find_recorded_output(ledger_, relative_to_root(file), path_status);
    if (!known.entry || known.is_intent || !factors_settings_.contains(known.entry->settings))
      continue;
    const OutputDecision decision = decide_output({.input = identity(item),
                                                   .settings = known.entry->settings,
                                                   .on_change = options_.on_change,
                                                   .min_run = options_.min_run},
                                                  known, path_status);
    if (decision.action == OutputAction::skip)
      return KeptFactors{file, path_status.bytes, telemetry::loss_estimate_db_of(decision.report)};
  }
  return std::nullopt;
}

OutputDecision Resume::decision_for(const WorkItem& item, std::size_t output) const {
  const PathStatus path_status = stat_path(item.outputs[output]);
  check_status_available(item.outputs[output], path_status);
  const RecordedOutput known =
      find_recorded_output(ledger_, relative_to_root(item.outputs[output]), path_status);
  return decision_for(item, output, known, path_status);
}

OutputDecision Resume::decision_for(const WorkItem& item, std::size_t output,
                                    const RecordedOutput& known,
                                    const PathStatus& path_status) const {
  OutputDecision decision = decide_output({.input = identity(item),
                                           .settings = settings_[output],
                                           .on_change = options_.on_change,
                                           .min_run = options_.min_run},
                                          known, path_status);
  if (decision.has_other_settings)
    decision.explanation = describe_settings_change(known.entry->settings, output);
  return decision;
}

/// Returns the difference between the recorded settings and the settings of this output.
std::string Resume::describe_settings_change(std::uint64_t old_settings, std::size_t output) const {
  const std::lock_guard lock(settings_changes_mutex_);
  std::string& text = settings_changes_[{old_settings, output}];
  if (text.empty())
    text = settings_difference(ledger_.settings_text(old_settings), options_.settings[output]);
  return text;
}

bool Resume::was_made_from(const WorkItem& item,
                           const std::vector<std::filesystem::path>& outputs) const {
  const std::string input = absolute(item.file);
  return std::ranges::any_of(outputs, [&](const std::filesystem::path& output) {
    const PathStatus path_status = stat_path(output);
    // A missing permission is reported later, by check(): this function must not throw for it.
    if (path_status.error != EACCES && path_status.error != EPERM)
      check_status_available(output, path_status);
    if (path_status.type != std::filesystem::file_type::regular) return false;
    const auto known = find_recorded_output(ledger_, relative_to_root(output), path_status).entry;
    return known && known->input == input;
  });
}

bool Resume::collides_with_sibling(const WorkItem& item) const {
  const std::filesystem::path input = absolute(item.file);
  for (const auto& output : item.outputs) {
    const PathStatus path_status = stat_path(output);
    if (path_status.type == std::filesystem::file_type::not_found) continue;
    const auto known = find_recorded_output(ledger_, relative_to_root(output), path_status).entry;
    if (!known || known->input == input) continue;
    const std::filesystem::path other = known->input;
    if (other.parent_path() == input.parent_path()) return true;
  }
  return false;
}

InputIdentity Resume::identity(const WorkItem& item) const {
  std::string path = absolute(item.file);
  const std::size_t root = root_length(path, item.relative);
  return {std::move(path),        root, item.file_state, item.content_hash, item.original_paths,
          options_.compares_inode};
}

bool Resume::needs_input_update(const ledger::OutputEntry& known, const WorkItem& item) const {
  const InputIdentity input = identity(item);
  return known.input != input.path || known.root_length != input.root_length ||
         known.state != input.state ||
         (!input.content_hash.empty() && known.content_hash != input.content_hash);
}

/// Computes the content hash only if a recorded input of an output has the same size.
void Resume::hash_content(WorkItem& item, const io::InputFile* open,
                          std::span<const ObservedOutput> outputs) const {
  for (const auto& [path_status, known] : outputs) {
    if (!known.entry || known.entry->state.size != item.file_state.size) continue;
    item.content_hash = open ? io::content_hash(*open) : io::content_hash(io::InputFile(item.file));
    return;
  }
}

/// Compares files only in check(), because scans and publishing must not take the time to read both
/// files.
void Resume::compare_inputs(WorkItem& item, const io::InputFile* open,
                            std::span<const ObservedOutput> outputs) const {
  item.original_paths.clear();
  for (const auto& [path_status, known] : outputs) {
    const InputIdentity input = identity(item);
    if (known.entry && match_input(*known.entry, input) == InputMatch::uncertain &&
        is_moved_or_copied(known.entry->input, input.path, open))
      item.original_paths.push_back(known.entry->input);
  }
}

bool Resume::has_failed(const WorkItem& item) const {
  const auto failure = ledger_.find_failure(absolute(item.file));
  return failure && failure->state == item.file_state;
}

void Resume::mark_suspect(WorkItem& item, const std::string& input) const {
  constexpr int kMaxGpuLosses = 2;  // another image may have caused the first loss, not the second
  const int losses = this->losses(input, item.file_state);
  item.is_suspect = losses > 0;
  item.task.is_cpu_only = losses >= kMaxGpuLosses;
  if (item.task.is_cpu_only && !ledger_.is_read_only())
    spdlog::warn("{}: the GPU was lost {} times while computing this image; using the CPU",
                 text::printable(item.file.native()), losses);
}

int Resume::losses(const std::string& input, const files::FileState& state) const {
  const auto known = suspects_.find(input);
  return known != suspects_.end() && known->second.state == state ? known->second.losses : 0;
}

std::string Resume::absolute(const std::filesystem::path& path) const {
  return normal_path(current_folder_, path);
}

std::string Resume::relative_to_root(const std::filesystem::path& output) const {
  return relative_path(absolute(output), root_);
}

}  // namespace eckart::pipeline
