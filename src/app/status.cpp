#include "app/status.hpp"

#include <exception>
#include <memory>
#include <system_error>
#include <utility>

#include "app/known_outputs.hpp"
#include "app/run.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace eckart::app {
namespace {

struct Found {
  std::filesystem::path file;
  std::unique_ptr<ledger::Ledger> ledger;
};

Found find_ledger(const std::filesystem::path& output, const std::string& setting) {
  return {ledger_file(output, setting), read_ledger(output, setting)};
}

/// Whether whoever made the request would take the file at all: a watch leaves alone what is no
/// regular file.
bool is_taken(const ledger::Request& request, const std::filesystem::path& file) {
  if (request.links.empty()) return true;
  std::error_code none;
  const bool is_link = std::filesystem::is_symlink(file, none);
  return std::filesystem::is_regular_file(file, none) && (!is_link || request.links != "none");
}

std::int64_t count(const Found& found, const ledger::Request& request,
                   const std::filesystem::path& output, const std::string& setting) {
  settings::Settings settings = settings::load_text(request.settings, "the ledger's settings");
  if (setting != "auto") settings.ledger = found.file;
  Run run({.settings = settings,
           .inputs = {request.inputs.begin(), request.inputs.end()},
           .files_from = {},
           .output = output,
           .report = {},
           .on_change = OnChange::keep},
          std::chrono::steady_clock::now());
  std::int64_t pending = 0;
  run.dry_run([&](const WorkItem& item, auto) {
    const auto failure = found.ledger->find_failure(item.file);
    const bool has_failed = failure && failure->state == item.state;
    if (item.outcome.ok() && !has_failed && is_taken(request, item.file)) ++pending;
  });
  return pending;
}

}  // namespace

Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures) {
  const Found found = find_ledger(output, ledger);
  return {found.ledger->count(), found.ledger->failed(failures)};
}

Pending count_pending(const std::filesystem::path& output, const std::string& ledger) {
  const Found found = find_ledger(output, ledger);
  try {
    const auto request = found.ledger->request();
    if (!request) return {{}, "no run has begun"};
    if (!request->files_from.empty()) return {{}, "the inputs came from a list"};
    return {count(found, *request, output, ledger), {}};
  } catch (const std::exception& error) {  // its folders have changed places, say
    return {{}, error.what()};
  }
}

}  // namespace eckart::app
