#include "app/settings_mismatch.hpp"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/output_settings.hpp"
#include "app/shard_ledger.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "io/is_within.hpp"
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

/// Whether an output, or a publish intent, was made with settings of no current text.
bool has_other_settings(ledger::Ledger& ledger, const std::vector<std::string>& texts) {
  const auto is_other = [&](const auto& known) {
    return std::ranges::none_of(texts, [&](const std::string& text) {
      return ledger::settings_hash(text) == known.settings;
    });
  };
  return std::ranges::any_of(ledger.count_by_settings(), is_other) ||
         std::ranges::any_of(ledger.intents(), is_other);
}

/// The outputs that a watch would write, with the texts of their settings.
class WatchOutputs {
 public:
  explicit WatchOutputs(const settings::WatchSettings& watch)
      : watch_(watch),
        texts_(output_settings(watch.settings)),
        tree_(make_output_tree(watch.settings, watch.output)) {}

  const std::vector<std::string>& texts() const { return texts_; }

  /// Null if the watch does not write this output: it has another name or input.
  const std::string* settings_of(const ledger::OutputEntry& output) const {
    const auto input = std::filesystem::path(output.input).lexically_relative(watch_.input);
    if (!tree_ || !io::stays_within(input)) return nullptr;
    for (const auto naming : {io::OutputTree::Naming::usual, io::OutputTree::Naming::full}) {
      const std::vector<std::filesystem::path> paths = tree_->outputs_of(input, naming);
      const auto found = std::ranges::find(paths, watch_.output / output.output);
      if (found != paths.end()) return &texts_[std::size_t(found - paths.begin())];
    }
    return nullptr;
  }

 private:
  const settings::WatchSettings& watch_;
  const std::vector<std::string> texts_;
  const std::optional<io::OutputTree> tree_;
};

/// Counts the outputs of other settings at the paths of the watch. Includes those that a killed run
/// published, but did not record as done.
SettingsMismatch find_mismatch(ledger::Ledger& ledger, const settings::WatchSettings& watch) {
  SettingsMismatch mismatch;
  const WatchOutputs current(watch);
  if (!has_other_settings(ledger, current.texts())) return mismatch;
  std::map<std::uint64_t, std::string> old_texts;
  const auto compare = [&](const ledger::OutputEntry& output) {
    const std::string* const text = current.settings_of(output);
    if (!text || ledger::settings_hash(*text) == output.settings) return;
    const auto [old_text, is_new] = old_texts.try_emplace(output.settings);
    if (is_new) old_text->second = ledger.settings_text(output.settings);
    ++mismatch.counts_by_difference[pipeline::settings_difference(old_text->second, *text)];
  };
  const LedgerOutputs outputs(ledger, watch.output, watch.settings.ledger);
  std::set<std::string> replaced;
  std::error_code none;
  if (!ledger.intents().empty() && std::filesystem::exists(watch.output, none)) {
    for (const ledger::OutputEntry& intent : outputs.published_intents(open_folder(watch.output))) {
      compare(intent);
      replaced.insert(intent.output);
    }
  }
  outputs.for_each([&](const ledger::OutputEntry& output) {
    if (!replaced.contains(output.output)) compare(output);
  });
  return mismatch;
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
  if (request.shard) use_folder_ledger(*ledger, request.output);
  if (!has_other_settings(*ledger, output_settings(request.settings))) return mismatch;
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

std::string ledger_warning(const settings::WatchSettings& watch) {
  const std::string prefix = watch.location + ": " + text::printable(watch.output.native()) + ": ";
  SettingsMismatch mismatch;
  try {
    const auto ledger = open_ledger_if_present(watch.output, watch.settings.ledger);
    if (!ledger) return {};
    mismatch = find_mismatch(*ledger, watch);
  } catch (const std::exception& error) {  // for example, permission denied
    return prefix + "the ledger cannot be read: " + text::printable_message(error.what());
  }
  if (mismatch.count() == 0) return {};
  const std::string message = prefix + mismatch.describe();
  if (!watch.keeps_inputs())
    return message +
           ": they are kept, because their inputs are gone (after: " + to_string(watch.after) + ")";
  if (watch.on_change == settings::OnChange::reprocess)
    return message + ": they will be reprocessed if the input still exists (on_change: reprocess)";
  return message + ": they are kept (on_change: keep; set on_change: reprocess to reprocess them)";
}

}  // namespace eckart::app
