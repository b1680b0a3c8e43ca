#include "app/status.hpp"

#include <exception>

#include "app/run.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace eckart::app {
namespace {

std::int64_t count_pending(ledger::Ledger& ledger, const ledger::Request& request,
                           const std::filesystem::path& output, const std::filesystem::path& file) {
  settings::Settings settings = settings::load_text(request.settings, "the ledger's settings");
  settings.ledger = file;
  Run run({.settings = settings,
           .inputs = {request.inputs.begin(), request.inputs.end()},
           .files_from = {},
           .output = output,
           .report = {}},
          std::chrono::steady_clock::now());
  std::int64_t pending = 0;
  run.dry_run([&](const WorkItem& item) {
    if (item.outcome.ok() && !ledger.find_failure(item.file)) ++pending;
  });
  return pending;
}

}  // namespace

Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures) {
  const std::filesystem::path file = ledger_file(output, ledger);
  const auto found = ledger::Ledger::open_to_read(file);
  if (!found) {
    throw FatalError(
        ExitCode::no_input,
        printable(output.native()) + ": no run has kept a ledger at " + printable(file.native()));
  }
  Status status{found->count(), found->failed(failures), {}, {}};
  try {
    const auto request = found->request();
    if (request && request->files_from.empty()) {
      status.pending = count_pending(*found, *request, output, file);
    } else {
      status.why_unknown = "the inputs came from a list";
    }
  } catch (const std::exception& error) {  // its folders have changed places, say
    status.why_unknown = error.what();
  }
  return status;
}

}  // namespace eckart::app
