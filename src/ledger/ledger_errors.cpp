#include "ledger/ledger_errors.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <system_error>

#include "core/error.hpp"
#include "files/out_of_space.hpp"
#include "text/printable.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

}  // namespace

std::string ledger_label(const fs::path& file) {
  return "ledger " + text::printable(file.native());
}

void throw_ledger_error(const fs::path& file, const DatabaseError& error) {
  const int system_error = error.system_errno, code = error.code & 0xff;
  const std::string message =
      ledger_label(file) + ": " + text::printable_message(error.message) +
      (system_error ? ": " + std::generic_category().message(system_error) : "");
  if (code == SQLITE_FULL || files::is_out_of_space(system_error))
    throw EnvironmentError(message, EnvironmentError::Remedy::free_disk_space);
  if (code == SQLITE_BUSY) throw FatalError(ExitCode::temporary, message);
  if (code == SQLITE_READONLY || system_error == EACCES || system_error == EPERM)
    throw FatalError(ExitCode::no_permission, message);
  if (code == SQLITE_IOERR || code == SQLITE_NOMEM || system_error == EIO)
    throw EnvironmentError(message);
  throw FatalError(ExitCode::cannot_create, message);
}

void throw_damaged(const fs::path& file, const std::string& reason) {
  throw FatalError(ExitCode::nothing_readable,
                   ledger_label(file) + ": " + text::printable_message(reason) +
                       ". The ledger is damaged. The next run renames it and creates a new one. " +
                       kLostRecordsText);
}

void throw_not_a_ledger(const fs::path& file) {
  throw FatalError(ExitCode::usage,
                   ledger_label(file) +
                       ": the file exists and is not an eckart ledger; it was not "
                       "changed. Name another file, or one that does not exist yet");
}

void throw_newer_schema(const fs::path& file, const NewerSchema& schema) {
  throw FatalError(ExitCode::configuration,
                   ledger_label(file) + " was written by a newer eckart (version " +
                       std::to_string(schema.version) + " of the schema; this program supports " +
                       std::to_string(kSchemaVersion) +
                       "); it was not changed. Use the newer eckart or another ledger");
}

}  // namespace eckart::ledger
