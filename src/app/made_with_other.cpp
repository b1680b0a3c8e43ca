#include "app/made_with_other.hpp"

#include <algorithm>
#include <exception>
#include <memory>

#include "core/error.hpp"
#include "core/grouped.hpp"
#include "core/printable.hpp"
#include "io/output_tree.hpp"
#include "ledger/ledger.hpp"
#include "pipeline/made_with.hpp"

namespace eckart::app {
namespace {

/// Null where there is none.
std::unique_ptr<ledger::Ledger> open_ledger(const std::filesystem::path& output,
                                            const std::string& setting) {
  const auto file = ledger_file(output, setting);
  return file.empty() ? nullptr : ledger::Ledger::open_to_read(file);
}

/// Whether outputs with these settings have the places of those with others: their names may show
/// the rank and the format.
bool have_one_place(const settings::Output& output, std::size_t ranks,
                    const std::string& difference) {
  const std::string name = output.name.empty() ? io::OutputTree::default_name(ranks) : output.name;
  const auto shows = [&](const char* field, const std::string& what) {
    return name.find(field) != name.npos &&
           (", " + difference).find(", " + what) != std::string::npos;
  };
  return !shows("{rank}", "rank ") && !shows("{ext}", "format ");
}

}  // namespace

std::int64_t MadeWithOther::count() const {
  std::int64_t count = 0;
  for (const auto& [difference, outputs] : by_difference) count += outputs;
  return count;
}

std::string MadeWithOther::difference() const {
  std::string text;
  for (const auto& [difference, outputs] : by_difference) {
    text += (text.empty() ? "" : "; ") + difference;
    if (by_difference.size() > 1) text += " (" + grouped(outputs) + ")";
  }
  return text;
}

MadeWithOther find_made_with_other(const RunRequest& request) try {
  MadeWithOther made;
  const auto ledger = open_ledger(request.output, request.settings.ledger);
  if (!ledger) return made;
  const std::vector<std::string> texts = output_settings(request.settings);
  const auto counts = ledger->count_by_settings();
  const bool any = std::any_of(counts.begin(), counts.end(), [&](const auto& count) {
    return std::none_of(texts.begin(), texts.end(), [&](const std::string& text) {
      return ledger::settings_hash(text) == count.settings;
    });
  });
  if (!any) return made;
  RunRequest look = request;
  look.report.clear();
  look.trace.clear();
  look.count_ahead = false;
  Run run(std::move(look), std::chrono::steady_clock::now());
  if (!run.can_list_again()) return made;
  run.dry_run([&](const WorkItem&, std::span<const OutputPlace> places) {
    for (const OutputPlace& place : places) {
      if (place.made_with_other) ++made.by_difference[place.why];
    }
  });
  return made;
} catch (const FatalError&) {
  return {};  // a damaged ledger, say: the run itself says so, or begins anew
}

std::string remark_on_made_with_other(const settings::Watch& watch) {
  if (watch.after != "keep") return {};  // done inputs are gone
  const std::string place = watch.place + ": " + printable(watch.output.native()) + ": ";
  MadeWithOther made;
  try {
    const auto ledger = open_ledger(watch.output, watch.settings.ledger);
    if (!ledger) return {};
    const std::vector<std::string> texts = output_settings(watch.settings);
    for (const ledger::SettingsCount& count : ledger->count_by_settings()) {
      const bool is_current = std::any_of(texts.begin(), texts.end(), [&](const auto& text) {
        return ledger::settings_hash(text) == count.settings;
      });
      if (is_current) continue;
      for (const std::string& text : texts) {
        const std::string difference = settings_difference(count.text, text);
        if (!have_one_place(watch.settings.output, texts.size(), difference)) continue;
        made.by_difference[difference] += count.outputs;
        break;
      }
    }
  } catch (const std::exception& error) {  // no permission, say
    return place + "its ledger cannot be looked at: " + printable_message(error.what());
  }
  if (made.count() == 0) return {};
  const std::string what = place + grouped(made.count()) +
                           (made.count() == 1 ? " result" : " results") + " of other settings (" +
                           made.difference() + ")";
  if (watch.on_change == "redo")
    return what + ": made again where the input is still there (on_change: redo)";
  return what + ": they stay as they are (on_change: keep; on_change: redo makes them again)";
}

}  // namespace eckart::app
