#include "app/ledger_status.hpp"

#include <exception>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "app/ledger_choice.hpp"
#include "app/ledger_outputs.hpp"
#include "app/run.hpp"
#include "core/error.hpp"
#include "core/instant.hpp"
#include "text/printable.hpp"

namespace eckart::app {
namespace {

struct OpenedLedger {
  std::filesystem::path file;
  std::unique_ptr<ledger::Ledger> ledger;
};

OpenedLedger find_ledger(const std::filesystem::path& output, const settings::FileChoice& choice) {
  return {ledger_file(output, choice), open_existing_ledger(output, choice)};
}

/// Returns whether the requester accepts the file: a watch ignores files that are not regular.
bool is_accepted(const ledger::RequestEntry& request, const std::filesystem::path& file) {
  if (!request.links) return true;
  std::error_code none;
  const bool is_link = std::filesystem::is_symlink(file, none);
  return std::filesystem::is_regular_file(file, none) &&
         (!is_link || request.links != files::LinkPolicy::none);
}

std::int64_t count_unfinished_images(const OpenedLedger& opened,
                                     const ledger::RequestEntry& request,
                                     const std::filesystem::path& output,
                                     const settings::FileChoice& choice) {
  settings::Settings settings = settings::parse_settings(request.settings, "the ledger's settings");
  if (settings.output.pack != settings::OutputPack::none)
    throw std::invalid_argument(
        "the outputs are in archives; the finished shards have all of theirs");
  if (!choice.is_auto()) settings.ledger = settings::FileChoice::at(opened.file);
  Run run({.settings = settings,
           .inputs = {request.inputs.begin(), request.inputs.end()},
           .files_from = {},
           .output = output,
           .report = {},
           .on_change = pipeline::OnSettingsChange::keep},
          Clock::now());
  std::int64_t pending = 0;
  run.dry_run([&](const pipeline::WorkItem& item, auto) {
    const auto failure = opened.ledger->find_failure(item.file);
    const bool has_failed = failure && failure->state == item.file_state;
    if (item.outcome.ok() && !has_failed && is_accepted(request, item.file)) ++pending;
  });
  return pending;
}

}  // namespace

LedgerStatus read_ledger_status(const std::filesystem::path& output,
                                const settings::FileChoice& ledger, int failures) {
  const OpenedLedger opened = find_ledger(output, ledger);
  return {opened.ledger->count_inputs(), opened.ledger->failures(failures)};
}

UnfinishedCount count_unfinished(const std::filesystem::path& output,
                                 const settings::FileChoice& ledger) {
  const OpenedLedger opened = find_ledger(output, ledger);
  try {
    const auto request = opened.ledger->request();
    if (!request) return {{}, "no run was started"};
    if (!request->files_from.empty()) return {{}, "the inputs came from a list"};
    return {count_unfinished_images(opened, *request, output, ledger), {}};
  } catch (const std::exception& error) {  // for example, its folders were moved
    return {{}, error.what()};
  }
}

}  // namespace eckart::app
