#include "app/status.hpp"

#include "app/run.hpp"
#include "core/error.hpp"
#include "core/printable.hpp"

namespace eckart::app {

Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures) {
  const std::filesystem::path file = ledger_file(output, ledger);
  const auto found = ledger::Ledger::open_to_read(file);
  if (!found) {
    throw FatalError(
        ExitCode::no_input,
        printable(output.native()) + ": no run has kept a ledger at " + printable(file.native()));
  }
  return {found->count(), found->failed(failures)};
}

}  // namespace eckart::app
