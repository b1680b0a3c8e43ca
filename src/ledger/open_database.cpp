#include "ledger/open_database.hpp"

#include <sqlite3.h>

#include "ledger/schema.hpp"

namespace eckart::ledger {

Database open_database(const LedgerLocation& location, OpenMode access,
                       std::chrono::milliseconds timeout) {
  check_ledger_file(location, timeout);
  Database database(location.file, access, timeout);
  int version = 0;
  try {
    database.read_transaction([&] {
      check_is_ledger(database);
      version = schema_version(database);
    });
  } catch (const NotALedger&) {
    throw DatabaseError{SQLITE_NOTADB, "is not a ledger", 0};
  }
  if (!is_for_reading(access)) {
    database.execute("PRAGMA journal_mode = WAL");
    // SQLite opens the journal by name, after the file. If the file was renamed in between, that is
    // the journal of the new ledger, and rows of the old one must not get there.
    database.read_transaction([&] { schema_version(database); });
    if (database.has_moved()) throw LedgerMoved();
    migrate(database, location.output_root);
    return database;
  }
  if (database.has_moved()) throw LedgerMoved();
  if (version == 0) throw DatabaseError{SQLITE_NOTADB, "has no tables", 0};
  if (version == kSchemaVersion) return database;
  Database copy = database.copy_to_memory();
  migrate(copy, location.output_root);
  return copy;
}

}  // namespace eckart::ledger
