#include "ledger/ledger.hpp"

#include <sqlite3.h>

#include <cerrno>
#include <chrono>
#include <system_error>
#include <utility>
#include <vector>

#include "core/error.hpp"
#include "core/printable.hpp"
#include "ledger/database.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

// What a power cut may take from the ledger: its images are then done again.
constexpr auto kSyncEvery = std::chrono::seconds(1);

// A change of the tables changes the number; another number's file is set aside.
constexpr int kSchema = 1;
constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS output (
  output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL, part INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, done INTEGER NOT NULL,
  reason INTEGER NOT NULL, detail BLOB NOT NULL, bytes INTEGER NOT NULL) WITHOUT ROWID;
)";
constexpr const char* kColumns =
    "SELECT output, input, settings, part, size, mtime_ns, inode, done, reason, detail, bytes "
    "FROM output ";

bool is_there(const fs::path& file) {
  std::error_code none;
  return fs::exists(file, none);
}

[[noreturn]] void fail(const fs::path& file, const DatabaseError& error) {
  const int why = error.system_error, code = error.code & 0xff;
  const std::string message = "ledger " + printable(file.native()) + ": " + error.message +
                              (why ? ": " + std::generic_category().message(why) : "");
  if (code == SQLITE_FULL || why == ENOSPC || why == EDQUOT)
    throw EnvironmentError(message, EnvironmentError::Wants::space);
  if (code == SQLITE_IOERR || code == SQLITE_NOMEM || why == EIO) throw EnvironmentError(message);
  throw FatalError(ExitCode::cannot_create, message);
}

}  // namespace

/// The open file. Statements end before the database.
struct Ledger::Open {
  explicit Open(const fs::path& file, bool read_only) : database(file, read_only) {
    if (!read_only) {
      const std::int64_t schema = number("PRAGMA user_version");
      if (schema != 0 && schema != kSchema)
        throw DatabaseError{SQLITE_NOTADB, "is of another version", 0};
      database.execute(kTables);
      database.execute(("PRAGMA user_version = " + std::to_string(kSchema)).c_str());
    }
    const auto prepare = [&](const std::string& sql) { return Statement(database.get(), sql); };
    const std::string columns = kColumns;
    find.emplace(prepare(columns + "WHERE output = ?1"));
    failed.emplace(prepare(columns + "WHERE done = 0 ORDER BY output LIMIT ?1"));
    count.emplace(
        prepare("SELECT done, reason, count(*) FROM output WHERE part = 0 GROUP BY done, reason"));
    if (read_only) return;
    record.emplace(
        prepare("INSERT OR REPLACE INTO output VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11)"));
  }

  static Entry entry(const Statement::Use& row) {
    return {.output = row.bytes(0),
            .input = row.bytes(1),
            .settings = std::uint64_t(row.integer(2)),
            .part = int(row.integer(3)),
            .state = {row.integer(4), row.integer(5), row.integer(6)},
            .done = row.integer(7) != 0,
            .reason = Reason(row.integer(8)),
            .detail = row.bytes(9),
            .bytes = row.integer(10)};
  }

  std::int64_t number(const char* sql) const {
    const Statement statement(database.get(), sql);
    Statement::Use use(statement);
    return use.step() ? use.integer(0) : 0;
  }

  Database database;
  std::chrono::steady_clock::time_point synced = std::chrono::steady_clock::now();
  std::optional<Statement> find, count, failed, record;
};

Ledger::Ledger(const fs::path& file, bool durable) : file_(file), durable_(durable) {
  try {
    std::error_code none, no_folder;
    if (file.has_parent_path()) fs::create_directories(file.parent_path(), no_folder);
    if (no_folder)
      throw DatabaseError{SQLITE_CANTOPEN, "cannot make its folder", no_folder.value()};
    try {
      open_ = std::make_unique<Open>(file, false);
    } catch (const DatabaseError& error) {
      if (!error.is_corrupt()) throw;
      fs::path aside;
      for (int number = 1; aside.empty() || is_there(aside); ++number)
        aside = file.native() + ".damaged-" + std::to_string(number);
      fs::rename(file, aside);
      for (const char* companion : {"-wal", "-shm"}) fs::remove(file.native() + companion, none);
      warning_ = "ledger " + printable(file.native()) + ": " + error.message + "; it is now " +
                 printable(aside.filename().native()) + ", and what it knew is done again";
      open_ = std::make_unique<Open>(file, false);
    }
  } catch (const DatabaseError& error) {
    fail(file, error);
  } catch (const fs::filesystem_error& error) {
    throw FatalError(ExitCode::cannot_create, error.what());
  }
}

Ledger::Ledger(const fs::path& file, std::unique_ptr<Open> open)
    : file_(file), durable_(false), open_(std::move(open)) {}

Ledger::~Ledger() = default;

std::unique_ptr<Ledger> Ledger::open_to_read(const fs::path& file) {
  if (!is_there(file)) return nullptr;
  try {
    return std::unique_ptr<Ledger>(new Ledger(file, std::make_unique<Open>(file, true)));
  } catch (const DatabaseError& error) {
    fail(file, error);
  }
}

std::optional<Entry> Ledger::find(const std::string& output) {
  const std::lock_guard lock(mutex_);
  try {
    Statement::Use use(*open_->find);
    use.bind(1, output);
    return use.step() ? std::optional(Open::entry(use)) : std::nullopt;
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

void Ledger::record(std::span<const Entry> entries) {
  if (entries.empty()) return;
  const std::lock_guard lock(mutex_);
  try {
    // Syncing takes all that was written before along.
    const auto now = std::chrono::steady_clock::now();
    const bool sync = durable_ && now - open_->synced >= kSyncEvery;
    open_->database.execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    open_->database.execute("BEGIN IMMEDIATE");
    try {
      for (const Entry& entry : entries) {
        Statement::Use use(*open_->record);
        use.bind(1, entry.output).bind(2, entry.input).bind(3, std::int64_t(entry.settings));
        use.bind(4, entry.part).bind(5, entry.state.size).bind(6, entry.state.mtime_ns);
        use.bind(7, entry.state.inode).bind(8, entry.done).bind(9, std::int64_t(entry.reason));
        use.bind(10, entry.detail).bind(11, entry.bytes);
        use.step();
      }
      open_->database.execute("COMMIT");
      if (sync) open_->synced = now;
    } catch (const DatabaseError&) {
      // Some errors have rolled back already.
      if (sqlite3_get_autocommit(open_->database.get()) == 0) open_->database.execute("ROLLBACK");
      throw;
    }
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

Counts Ledger::count() {
  const std::lock_guard lock(mutex_);
  try {
    Counts counts;
    Statement::Use use(*open_->count);
    while (use.step()) {
      const std::int64_t images = use.integer(2), reason = use.integer(1);
      (use.integer(0) != 0 ? counts.done : counts.failed) += images;
      if (use.integer(0) == 0 && reason >= 0 && reason < kReasonCount)
        counts.failures[std::size_t(reason)] += images;
    }
    return counts;
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

std::vector<Entry> Ledger::failed(int limit) {
  const std::lock_guard lock(mutex_);
  try {
    std::vector<Entry> entries;
    Statement::Use use(*open_->failed);
    use.bind(1, std::int64_t(limit));
    while (use.step()) entries.push_back(Open::entry(use));
    return entries;
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

}  // namespace eckart::ledger
