#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "ledger/database.hpp"

namespace eckart::ledger {

/// Version of the tables that this program reads and writes. A change of the tables increments it
/// and adds a migration, with a test that opens a file of the old version.
inline constexpr int kSchemaVersion = 5;

/// The size of the header at the beginning of every SQLite database. A shorter file has no header:
/// it is empty, or was cut off, or another process is creating it.
inline constexpr std::size_t kDatabaseHeaderBytes = 100;
/// The size of the smallest page. A database with tables has at least one page, which includes the
/// header, so a shorter file is no ledger.
inline constexpr std::size_t kMinDatabaseBytes = 512;
/// SQLite's application_id of every ledger since version 2 of the tables: "Ecka".
inline constexpr std::uint32_t kApplicationId = 0x45636b61;

/// A newer program wrote the ledger. Its tables are unknown, so it is not changed.
struct NewerSchema {
  std::int64_t version;
};

/// OutputEntry::bytes of a publish intent of version 3, which recorded only the time of the file.
inline constexpr std::int64_t kUnknownBytes = -1;

/// The file exists and is not a ledger.
struct NotALedger {};

/// Throws NotALedger unless the file is empty, has the application_id of a ledger, or has the
/// tables of version 1, which set no application_id. Throws DatabaseError.
void check_is_ledger(Database& database);

/// Version of the tables in the file; 0 if it has no tables. Throws NewerSchema, DatabaseError.
int schema_version(Database& database);

/// Creates the tables in one transaction, or brings them to kSchemaVersion: one transaction for
/// each version, so that an interrupted migration continues with the next start. `output_root`: the
/// absolute folder that outputs are relative to. Throws NewerSchema, DatabaseError.
void migrate(Database& database, const std::filesystem::path& output_root);

}  // namespace eckart::ledger
