#include "ledger/ledger_connection.hpp"

#include <sqlite3.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "files/entry_exists.hpp"
#include "files/out_of_space.hpp"
#include "ledger/creation_lock.hpp"
#include "ledger/open_database.hpp"
#include "ledger/schema.hpp"
#include "text/printable.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

bool file_exists(const fs::path& file) {
  std::error_code ignored;
  return fs::exists(file, ignored);
}

/// Empty if there is no file.
std::optional<std::uintmax_t> find_file_size(const fs::path& file) {
  std::error_code error;
  const std::uintmax_t size = fs::file_size(file, error);
  return error ? std::nullopt : std::optional(size);
}

/// Calls `open` again each time that another process has renamed the file meanwhile.
template <class Open>
auto retry_if_moved(const Open& open) {
  constexpr int kMaxAttempts = 10;
  for (int attempt = 1;; ++attempt) {
    try {
      return open();
    } catch (const LedgerMoved&) {
      if (attempt == kMaxAttempts)
        throw DatabaseError{SQLITE_BUSY, "was renamed each time that it was opened"};
    }
  }
}

}  // namespace

LedgerConnection::LedgerConnection(const fs::path& file, LedgerOptions options)
    : location_(file), options_(std::move(options)) {
  std::error_code folder_error;
  if (file.has_parent_path()) fs::create_directories(file.parent_path(), folder_error);
  if (folder_error)
    throw_ledger_error(file, {SQLITE_CANTOPEN, "cannot create its folder", folder_error.value()});
  translate_errors(file, [&] { open(); });
}

LedgerConnection::LedgerConnection(LedgerLocation location, std::unique_ptr<LedgerTables> tables)
    : location_(std::move(location)),
      read_only_(true),
      run_{.number = tables->run()},
      tables_(std::move(tables)) {}

std::unique_ptr<LedgerConnection> LedgerConnection::open_read_only(const fs::path& file) {
  return open(file, OpenMode::read_only);
}

std::unique_ptr<LedgerConnection> LedgerConnection::open_unchanging(const fs::path& file) {
  return open(file, OpenMode::immutable);
}

std::unique_ptr<LedgerConnection> LedgerConnection::open(const fs::path& file, OpenMode access) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) {
    if (errno == ENOENT || errno == ENOTDIR) return nullptr;
    throw_ledger_error(file, {SQLITE_CANTOPEN, "cannot be opened", errno});
  }
  if (S_ISREG(status.st_mode) && status.st_size == 0) return nullptr;  // no table had space so far
  const LedgerLocation location(file);
  const auto open_with = [&](OpenMode mode) {
    return retry_if_moved([&] {
      return std::unique_ptr<LedgerConnection>(new LedgerConnection(
          location, std::make_unique<LedgerTables>(location, mode, LedgerOptions().timeout)));
    });
  };
  return translate_errors(file, [&] {
    try {
      try {
        return open_with(access);
      } catch (const DatabaseError& error) {
        if (!files::is_out_of_space(error.system_errno)) throw;
        return open_with(
            OpenMode::immutable);  // a full disk has no space for the shared files of readers
      }
    } catch (const DatabaseError& error) {
      if (error.is_corrupt()) throw_damaged(file, error.message);
      throw;
    }
  });
}

std::int64_t LedgerConnection::run_number() const {
  const std::lock_guard lock(mutex_);
  return run_.number;
}

/// Returns the tables of the file at the path.
LedgerTables& LedgerConnection::current_tables() {
  if (tables_ && was_renamed()) tables_.reset();
  if (!tables_) open();  // opening failed before, or another process renamed it
  return *tables_;
}

/// Does not wait for the CreationLock if there is a ledger.
void LedgerConnection::open() {
  if (find_file_size(file_).value_or(0) >= kDatabaseHeaderBytes) {
    try {
      return open_tables(OpenMode::read_write_existing);
    } catch (const NotALedger&) {  // another process may be creating it
    } catch (const LedgerMoved&) {
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt() && file_exists(file_)) throw;
    }
  }
  const CreationLock lock(file_, options_.timeout);
  open_or_create(lock.is_held());
}

/// To be called with a CreationLock, as rename_damaged().
void LedgerConnection::open_or_create(bool has_creation_lock) {
  const FileId found = file_id_of(file_);
  const std::optional<std::uintmax_t> size = find_file_size(file_);
  if (has_creation_lock && !files::entry_exists(file_)) remove_stale_journals(file_);
  const auto open_new_or_existing = [&] {
    retry_if_moved([&] { open_tables(OpenMode::read_write); });
  };
  try {
    open_new_or_existing();
  } catch (const DatabaseError& error) {
    if (!error.is_corrupt()) throw;
    rename_damaged(found, error.message);
    open_new_or_existing();
  }
  if (size && *size < kDatabaseHeaderBytes && options_.warn)
    options_.warn(ledger_label(file_) + " was empty. " + kLostRecordsText);
}

void LedgerConnection::open_tables(OpenMode access) {
  auto tables = std::make_unique<LedgerTables>(location_, access, options_.timeout);
  if (!run_.request) {
    run_ = {tables->run(), tables->request()};
  } else {  // the file may be new and have the request of another run
    tables->transaction(true, [&] {
      if (tables->run() < run_.number) return tables->record(*run_.request, run_.number);
      tables->record_settings(run_.request->output_settings);
    });
  }
  const FileId id = file_id_of(file_);
  if (tables->has_moved()) throw LedgerMoved();  // otherwise `id` may be of another file
  tables_ = std::move(tables);
  const std::lock_guard lock(open_file_id_mutex_);
  open_file_id_ = id;
}

/// Replaces the open file. Throws FatalError if it is open for reading.
void LedgerConnection::replace_damaged(const std::string& reason) {
  if (read_only_) throw_damaged(file_, reason);
  const CreationLock creation_lock(file_, options_.timeout);
  rename_damaged(open_file_id_.value_or(FileId()), reason);
  open_or_create(creation_lock.is_held());
}

/// Does nothing if another file is at the path: another process has already renamed the damaged
/// one.
void LedgerConnection::rename_damaged(const FileId& damaged, const std::string& reason) {
  tables_.reset();
  {
    const std::lock_guard lock(open_file_id_mutex_);
    open_file_id_.reset();
  }
  if (file_id_of(file_) != damaged) return;
  const fs::path new_path = rename_damaged_file(file_, reason);
  if (options_.warn)
    options_.warn(ledger_label(file_) + ": " + text::printable_message(reason) + "; renamed to " +
                  text::printable(new_path.filename().native()) + ". " + kLostRecordsText);
}

std::optional<FileId> LedgerConnection::open_file_id() const {
  const std::lock_guard lock(open_file_id_mutex_);
  return open_file_id_;
}

/// Whether the open file is no longer at its path but beside it, because another process found it
/// damaged.
bool LedgerConnection::was_renamed() const {
  const std::optional<FileId> open_id = open_file_id();
  if (!open_id || open_id == file_id_of(file_)) return false;
  return was_renamed_as_damaged(file_, *open_id);
}

void LedgerConnection::check_not_replaced() const {
  const std::optional<FileId> open_id = open_file_id();
  if (!open_id || open_id == file_id_of(file_) || was_renamed()) return;
  throw EnvironmentError(ledger_label(file_) + " was moved, removed or replaced during the run");
}

}  // namespace eckart::ledger
