#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "ledger/damaged_file.hpp"
#include "ledger/database.hpp"
#include "ledger/ledger_errors.hpp"
#include "ledger/ledger_file.hpp"
#include "ledger/ledger_options.hpp"
#include "ledger/ledger_tables.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

/// The run that an open ledger belongs to.
struct LedgerRun {
  std::int64_t number = 0;  ///< until a run begins: of the last run in the file
  /// Recorded again in a new file that replaces a damaged one.
  std::optional<RequestEntry> request{};
};

/// The open file of a ledger. Opens it again if another process has renamed it as damaged, and
/// replaces it if it is found to be damaged. Thread-safe.
class LedgerConnection {
 public:
  /// As the constructor of Ledger.
  LedgerConnection(const std::filesystem::path& file, LedgerOptions options);
  /// As Ledger::open_read_only().
  static std::unique_ptr<LedgerConnection> open_read_only(const std::filesystem::path& file);
  static std::unique_ptr<LedgerConnection> open_unchanging(const std::filesystem::path& file);

  bool is_read_only() const { return read_only_; }
  /// The number of the current run.
  std::int64_t run_number() const;

  /// Returns body(LedgerTables&, LedgerRun&). If the file is damaged, calls `body` once more, on a
  /// new file. One thread at a time. Throws FatalError and EnvironmentError.
  template <class Body>
  auto with_tables(const Body& body) {
    const std::lock_guard lock(mutex_);
    return translate_errors(file_, [&] {
      try {
        return body(current_tables(), run_);
      } catch (const DatabaseError& error) {
        if (!error.is_corrupt()) throw;
        replace_damaged(error.message);  // the run continues with a new file
      }
      return body(*tables_, run_);
    });
  }

  /// See Ledger.
  void check_not_replaced() const;

 private:
  static std::unique_ptr<LedgerConnection> open(const std::filesystem::path& file, OpenMode access);
  LedgerConnection(LedgerLocation location, std::unique_ptr<LedgerTables> tables);
  LedgerTables& current_tables();
  void open();
  void open_or_create(bool has_creation_lock);
  void open_tables(OpenMode access);
  std::optional<FileId> open_file_id() const;
  bool was_renamed() const;
  void replace_damaged(const std::string& reason);
  void rename_damaged(const FileId& damaged, const std::string& reason);

  const LedgerLocation location_;
  const std::filesystem::path& file_ = location_.file;
  const bool read_only_ = false;
  const LedgerOptions options_;
  mutable std::mutex mutex_;  // for run_ and tables_
  LedgerRun run_;
  std::unique_ptr<LedgerTables> tables_;
  mutable std::mutex open_file_id_mutex_;
  std::optional<FileId> open_file_id_;
};

}  // namespace eckart::ledger
