#include "ledger/database.hpp"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <iterator>
#include <system_error>

#include "text/percent_encoding.hpp"

namespace eckart::ledger {
namespace {

/// The errno of creating a file beside the database; 0 if that succeeds. If SQLite cannot create a
/// file, it tries to open it for reading and keeps that errno, which is always ENOENT.
int file_creation_error(const std::string& file) {
  std::string probe = file + "-probe-XXXXXX";
  const int descriptor = ::mkostemp(probe.data(), O_CLOEXEC);
  if (descriptor < 0) return errno;
  ::close(descriptor);
  ::unlink(probe.c_str());
  return 0;
}

/// The errno of the last error. After a failed commit only the file objects have it.
int system_errno(sqlite3* database) {
  for (const int pointer_code : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int error = 0;
    sqlite3_file_control(database, "main", pointer_code, &file);
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    if (error != 0) return error;
  }
  const int error = sqlite3_system_errno(database);
  if (error != ENOENT) return error;
  const char* const name = sqlite3_db_filename(database, "main");
  const int creation_error = name ? file_creation_error(name) : 0;
  return creation_error != 0 ? creation_error : error;
}

void check(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const int extended = sqlite3_extended_errcode(database), primary = extended & 0xff;
  const bool is_system_error = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  throw DatabaseError{extended, sqlite3_errmsg(database),
                      is_system_error ? system_errno(database) : 0};
}

/// Whether to open the file with immutable=1, so that SQLite creates no files beside it. Not if
/// another process has left rows in a journal: they must be read.
bool is_immutable(const std::filesystem::path& file, OpenMode access) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code error;
  const std::uintmax_t wal_bytes = std::filesystem::file_size(file.native() + "-wal", error);
  if (!error && wal_bytes > 0) return false;
  return access == OpenMode::immutable ||
         (access == OpenMode::read_only && ::access(folder.c_str(), W_OK) != 0);
}

int access_flags(OpenMode access) {
  switch (access) {
    case OpenMode::read_write:
      return SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    case OpenMode::read_write_existing:
      return SQLITE_OPEN_READWRITE;
    default:
      return SQLITE_OPEN_READONLY;
  }
}

/// An SQLite URI of the file. Bytes with a meaning in URIs are written as %XX.
std::string to_uri(const std::filesystem::path& file) {
  return "file:" + text::percent_encode_path(file.native()) + "?immutable=1";
}

/// The journal (write-ahead log) is copied to the file and begun again when it has so many pages.
/// The number is small at first, so that the journal of a small ledger does not need much more
/// space than the ledger, and doubles each time up to the default of SQLite.
constexpr int kJournalPages[] = {64, 128, 256, 512, 1000};

/// Called after each transaction with the pages of the journal. If it cannot be copied, it grows.
/// `max_pages`: an element of kJournalPages.
int copy_long_journal(void* max_pages, sqlite3* database, const char* name, int pages) {
  auto* const max = static_cast<int*>(max_pages);
  if (pages < *max) return SQLITE_OK;
  sqlite3_wal_checkpoint_v2(database, name, SQLITE_CHECKPOINT_PASSIVE, nullptr, nullptr);
  if (max + 1 != std::end(kJournalPages)) sqlite3_wal_hook(database, copy_long_journal, max + 1);
  return SQLITE_OK;
}

}  // namespace

bool DatabaseError::is_corrupt() const {
  if (code == SQLITE_IOERR_SHORT_READ) return true;
  switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:  // a statement names a missing table or column
    case SQLITE_CONSTRAINT:
    case SQLITE_FORMAT:
    case SQLITE_INTERNAL:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE:
    case SQLITE_SCHEMA:
    case SQLITE_TOOBIG:
      return true;
    default:
      return false;
  }
}

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(database, sql.data(), int(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &statement, nullptr),
        database);
  statement_.reset(statement);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Execution::~Execution() {
  sqlite3_reset(statement_);
  sqlite3_clear_bindings(
      statement_);  // they may refer to freed memory; an unbound parameter is NULL
}

Statement::Execution& Statement::Execution::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, parameter, value), sqlite3_db_handle(statement_));
  return *this;
}

Statement::Execution& Statement::Execution::bind(int parameter, std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC),
        sqlite3_db_handle(statement_));
  return *this;
}

Statement::Execution& Statement::Execution::bind_text(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8),
        sqlite3_db_handle(statement_));
  return *this;
}

bool Statement::Execution::step() {
  const int code = sqlite3_step(statement_);
  check(code, sqlite3_db_handle(statement_));
  return code == SQLITE_ROW;
}

std::int64_t Statement::Execution::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Execution::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data ? std::string(data, std::size_t(sqlite3_column_bytes(statement_, column)))
              : std::string();
}

bool Statement::Execution::is_null(int column) const {
  return sqlite3_column_type(statement_, column) == SQLITE_NULL;
}

Database::Database(const std::filesystem::path& file, OpenMode access,
                   std::chrono::milliseconds timeout) {
  sqlite3* database = nullptr;
  const bool immutable = is_immutable(file, access);
  std::error_code error;
  const std::filesystem::path absolute = std::filesystem::absolute(file, error);
  if (error) throw DatabaseError{SQLITE_CANTOPEN, "cannot find the current folder", error.value()};
  // SQLite interprets names like ":memory:" and "file:a", but no absolute path.
  const std::string name = immutable ? to_uri(absolute) : absolute.native();
  const int code = sqlite3_open_v2(
      name.c_str(), &database,
      SQLITE_OPEN_NOMUTEX | (immutable ? SQLITE_OPEN_URI : 0) | access_flags(access), nullptr);
  database_.reset(database);
  std::error_code ignored;  // if the folder cannot be searched, the file counts as missing
  if (code == SQLITE_CANTOPEN && access == OpenMode::read_write &&
      !std::filesystem::exists(file, ignored))
    throw DatabaseError{code, sqlite3_errmsg(database), file_creation_error(file.native())};
  check(code, database);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, int(timeout.count()));
  sqlite3_wal_hook(database, copy_long_journal, const_cast<int*>(std::begin(kJournalPages)));
}

Database Database::copy_to_memory() const {
  Database copy;
  sqlite3* database = nullptr;
  const int code =
      sqlite3_open_v2(":memory:", &database, SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_READWRITE, nullptr);
  copy.database_.reset(database);
  check(code, database);
  sqlite3_extended_result_codes(database, 1);
  if (sqlite3_backup* backup = sqlite3_backup_init(database, "main", get(), "main")) {
    sqlite3_backup_step(backup, -1);
    sqlite3_backup_finish(backup);
  }
  check(sqlite3_errcode(database), database);
  return copy;
}

void Database::execute(const char* sql) {
  check(sqlite3_exec(get(), sql, nullptr, nullptr, nullptr), get());
}

std::int64_t Database::last_inserted_id() const { return sqlite3_last_insert_rowid(get()); }

bool Database::has_moved() const {
  int moved = 0;
  check(sqlite3_file_control(get(), "main", SQLITE_FCNTL_HAS_MOVED, &moved), get());
  return moved != 0;
}

void Database::roll_back() noexcept {
  if (sqlite3_get_autocommit(get()) == 0)
    sqlite3_exec(get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::CloseDatabase::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

}  // namespace eckart::ledger
