#include "app/settings_mismatch.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <system_error>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/output_settings.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "io/output_tree.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/settings_change.hpp"
#include "text/format_count.hpp"
#include "text/group_digits.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

/// Returns null if there is no ledger.
std::unique_ptr<ledger::Ledger> open_ledger_if_present(const std::filesystem::path& output,
                                                       const settings::FileChoice& choice) {
  const auto file = ledger_file(output, choice);
  return file.empty() ? nullptr : ledger::Ledger::open_read_only(file);
}

/// Returns the change of one setting in a difference, such as "20 -> 7"; empty if it is the same.
std::string change_of(const std::string& setting, const std::string& difference) {
  const std::string all = ", " + difference, name = ", " + setting + " ";
  const std::size_t begin = all.find(name);
  if (begin == std::string::npos) return {};
  const std::size_t end = all.find(", ", begin + name.size());
  return all.substr(begin + name.size(), end - begin - name.size());
}

/// Returns whether a difference of settings leaves the paths of outputs as they are. They change if
/// the name contains a rank or format that differs, or if only one of them is a residual or
/// factors. The names of factors have no rank.
bool have_same_paths(const settings::OutputSettings& output, std::size_t ranks,
                     const std::string& difference, bool are_factors) {
  const std::string name = output.name.empty() ? io::OutputTree::default_name(ranks) : output.name;
  for (const char* extra : {"residual", "factors"}) {
    const std::string change = change_of(extra, difference);
    if (change.starts_with("none ") || change.ends_with(" none")) return false;
  }
  return (are_factors || !io::OutputTree::names_rank(name) ||
          change_of("rank", difference).empty()) &&
         (name.find("{ext}") == name.npos || change_of("format", difference).empty());
}

bool is_current(const std::vector<std::string>& texts, std::uint64_t settings) {
  return std::ranges::any_of(
      texts, [&](const std::string& text) { return ledger::settings_hash(text) == settings; });
}

/// Counts outputs by their settings. Includes the outputs that a killed run published but did not
/// record as done.
std::vector<ledger::SettingsCount> count_outputs(ledger::Ledger& ledger,
                                                 const settings::WatchSettings& watch) {
  std::vector<ledger::SettingsCount> counts = ledger.count_by_settings();
  std::error_code none;
  if (ledger.intents().empty() || !std::filesystem::exists(watch.output, none)) return counts;
  const LedgerOutputs outputs(ledger, watch.output, watch.settings.ledger);
  for (const ledger::OutputEntry& intent : outputs.published_intents(open_folder(watch.output))) {
    const auto done = ledger.find(outputs.ledger_key(intent.output));
    if (done && done->settings == intent.settings) continue;
    counts.push_back({intent.settings, ledger.settings_text(intent.settings), 1});
    if (!done) continue;
    for (ledger::SettingsCount& count : counts) {  // the published file replaced this output
      if (count.settings == done->settings) --count.outputs;
    }
  }
  std::erase_if(counts, [](const ledger::SettingsCount& count) { return count.outputs <= 0; });
  return counts;
}

}  // namespace

std::int64_t SettingsMismatch::count() const {
  std::int64_t count = 0;
  for (const auto& [difference, outputs] : counts_by_difference) count += outputs;
  return count;
}

std::string SettingsMismatch::describe() const {
  std::string differences;
  for (const auto& [difference, outputs] : counts_by_difference) {
    differences += (differences.empty() ? "" : "; ") + difference;
    if (counts_by_difference.size() > 1) differences += " (" + text::group_digits(outputs) + ")";
  }
  return text::format_count(count(), "output") + " made with other settings (" + differences + ")";
}

SettingsMismatch find_settings_mismatch(const RunRequest& request) try {
  SettingsMismatch mismatch;
  if (!request.settings.output.writes_files()) return mismatch;
  const auto ledger = open_ledger_if_present(request.output, request.settings.ledger);
  if (!ledger) return mismatch;
  const std::vector<std::string> texts = output_settings(request.settings);
  const auto has_other_settings = [&](const auto& known) {
    return !is_current(texts, known.settings);
  };
  if (std::ranges::none_of(ledger->count_by_settings(), has_other_settings) &&
      std::ranges::none_of(ledger->intents(), has_other_settings))
    return mismatch;
  RunRequest dry_request = request;
  dry_request.report.clear();
  dry_request.trace.clear();
  dry_request.count_inputs = false;
  Run run(std::move(dry_request), Clock::now());
  if (!run.can_relist_inputs()) return mismatch;
  run.dry_run([&](const pipeline::WorkItem&, std::span<const pipeline::OutputDecision> decisions) {
    for (const pipeline::OutputDecision& decision : decisions) {
      if (decision.has_other_settings) ++mismatch.counts_by_difference[decision.explanation];
    }
  });
  return mismatch;
} catch (const FatalError&) {
  return {};  // for example, the ledger is damaged: the run itself reports that, or makes a new
              // ledger
}

std::string settings_mismatch_warning(const settings::WatchSettings& watch) {
  if (!watch.keeps_inputs()) return {};  // the inputs of outputs are gone
  const std::string prefix = watch.location + ": " + text::printable(watch.output.native()) + ": ";
  SettingsMismatch mismatch;
  try {
    const auto ledger = open_ledger_if_present(watch.output, watch.settings.ledger);
    if (!ledger) return {};
    const std::vector<std::string> texts = output_settings(watch.settings);
    for (const ledger::SettingsCount& count : count_outputs(*ledger, watch)) {
      if (is_current(texts, count.settings)) continue;
      for (const std::string& text : texts) {
        const std::string difference = pipeline::settings_difference(count.text, text);
        const bool are_factors = pipeline::is_text_of_factors(text);
        if (!have_same_paths(watch.settings.output, watch.settings.ranks.size(), difference,
                             are_factors))
          continue;
        mismatch.counts_by_difference[difference] += count.outputs;
        break;
      }
    }
  } catch (const std::exception& error) {  // for example, permission denied
    return prefix + "the ledger cannot be read: " + text::printable_message(error.what());
  }
  if (mismatch.count() == 0) return {};
  const std::string message = prefix + mismatch.describe();
  if (watch.on_change == settings::OnChange::reprocess)
    return message + ": they will be reprocessed if the input still exists (on_change: reprocess)";
  return message + ": they are kept (on_change: keep; set on_change: reprocess to reprocess them)";
}

}  // namespace eckart::app
