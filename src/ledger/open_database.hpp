#pragma once

#include <chrono>

#include "ledger/database.hpp"
#include "ledger/ledger_file.hpp"

namespace eckart::ledger {

/// Another process renamed the file while it was opened. The caller opens it again.
struct LedgerMoved {};

/// Opens the database of a ledger, with tables of kSchemaVersion. For writing, creates the file if
/// it does not exist, and migrates an older version. For reading, migrates a copy in memory. Throws
/// NotALedger, NewerSchema and LedgerMoved without changing anything; throws DatabaseError.
/// `timeout` as in Database.
Database open_database(const LedgerLocation& location, OpenMode access,
                       std::chrono::milliseconds timeout);

}  // namespace eckart::ledger
