#include "ledger/database.hpp"

#include <sqlite3.h>
#include <unistd.h>

#include <cctype>
#include <system_error>

namespace eckart::ledger {
namespace {

/// errno of a commit that failed is known to the files alone.
int system_error(sqlite3* database) {
  for (const int which : {SQLITE_FCNTL_JOURNAL_POINTER, SQLITE_FCNTL_FILE_POINTER}) {
    sqlite3_file* file = nullptr;
    int error = 0;
    sqlite3_file_control(database, "main", which, &file);
    if (file && file->pMethods) file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &error);
    if (error != 0) return error;
  }
  return sqlite3_system_errno(database);
}

void check(int code, sqlite3* database) {
  if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE) return;
  const int extended = sqlite3_extended_errcode(database), primary = extended & 0xff;
  const bool of_system = primary == SQLITE_IOERR || primary == SQLITE_CANTOPEN;
  throw DatabaseError{extended, sqlite3_errmsg(database), of_system ? system_error(database) : 0};
}

/// Whether reading would have to make files beside it, which this process may not; nobody has left
/// any, so that nobody writes.
bool is_still(const std::filesystem::path& file) {
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  std::error_code none;
  return ::access(folder.c_str(), W_OK) != 0 &&
         !std::filesystem::exists(file.native() + "-wal", none);
}

/// A URI in which every byte that might mean something there is written as %XX.
std::string uri_of(const std::filesystem::path& file) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string uri = "file:";
  for (const char c : file.native()) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isalnum(byte) || c == '/') {
      uri += c;
    } else {
      uri += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return uri + "?immutable=1";
}

}  // namespace

bool DatabaseError::is_corrupt() const {
  const int primary = code & 0xff;
  return primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB;
}

Statement::Statement(sqlite3* database, std::string_view sql) {
  sqlite3_stmt* statement = nullptr;
  check(sqlite3_prepare_v3(database, sql.data(), int(sql.size()), SQLITE_PREPARE_PERSISTENT,
                           &statement, nullptr),
        database);
  statement_.reset(statement);
}

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement::Use::~Use() { sqlite3_reset(statement_); }

Statement::Use& Statement::Use::bind(int parameter, std::int64_t value) {
  check(sqlite3_bind_int64(statement_, parameter, value), sqlite3_db_handle(statement_));
  return *this;
}

Statement::Use& Statement::Use::bind(int parameter, std::string_view bytes) {
  check(sqlite3_bind_blob64(statement_, parameter, bytes.data(), bytes.size(), SQLITE_STATIC),
        sqlite3_db_handle(statement_));
  return *this;
}

Statement::Use& Statement::Use::bind_text(int parameter, std::string_view text) {
  check(sqlite3_bind_text64(statement_, parameter, text.data(), text.size(), SQLITE_STATIC,
                            SQLITE_UTF8),
        sqlite3_db_handle(statement_));
  return *this;
}

bool Statement::Use::step() {
  const int code = sqlite3_step(statement_);
  check(code, sqlite3_db_handle(statement_));
  return code == SQLITE_ROW;
}

std::int64_t Statement::Use::integer(int column) const {
  return sqlite3_column_int64(statement_, column);
}

std::string Statement::Use::bytes(int column) const {
  const auto* data = static_cast<const char*>(sqlite3_column_blob(statement_, column));
  return data ? std::string(data, std::size_t(sqlite3_column_bytes(statement_, column)))
              : std::string();
}

Database::Database(const std::filesystem::path& file, bool read_only,
                   std::chrono::milliseconds patience) {
  sqlite3* database = nullptr;
  const bool still = read_only && is_still(file);
  const std::string name = still ? uri_of(file) : file.native();
  const int code = sqlite3_open_v2(
      name.c_str(), &database,
      SQLITE_OPEN_NOMUTEX | (still ? SQLITE_OPEN_URI : 0) |
          (read_only ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE),
      nullptr);
  database_.reset(database);
  check(code, database);
  sqlite3_extended_result_codes(database, 1);
  sqlite3_busy_timeout(database, int(patience.count()));
}

void Database::execute(const char* sql) {
  check(sqlite3_exec(get(), sql, nullptr, nullptr, nullptr), get());
}

void Database::roll_back() noexcept {
  if (sqlite3_get_autocommit(get()) == 0)
    sqlite3_exec(get(), "ROLLBACK", nullptr, nullptr, nullptr);
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

}  // namespace eckart::ledger
