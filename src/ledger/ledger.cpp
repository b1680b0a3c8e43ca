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
constexpr int kSchema = 2;
constexpr const char* kTables = R"(
CREATE TABLE IF NOT EXISTS output (
  output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL, part INTEGER NOT NULL,
  size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  bytes INTEGER NOT NULL, run INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (what TEXT NOT NULL, value BLOB NOT NULL);
)";

/// What a later version may have written counts as a bug's.
Reason reason_of(const std::string& text) {
  for (int reason = 0; reason < kReasonCount; ++reason) {
    if (to_string(Reason(reason)) == text) return Reason(reason);
  }
  return Reason::internal;
}

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
    const std::int64_t schema = number("PRAGMA user_version");
    if (schema != kSchema && (schema != 0 || read_only))
      throw DatabaseError{SQLITE_NOTADB, "is of another version", 0};
    if (!read_only) {
      database.execute(kTables);
      database.execute(("PRAGMA user_version = " + std::to_string(kSchema)).c_str());
    }
    find.emplace(prepare("SELECT * FROM output WHERE output = ?1"));
    find_failure.emplace(prepare("SELECT * FROM failure WHERE input = ?1"));
    failed.emplace(prepare("SELECT * FROM failure ORDER BY input LIMIT ?1"));
    if (read_only) return;
    insert.emplace(prepare("INSERT OR REPLACE INTO output VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"));
    insert_failure.emplace(prepare("INSERT OR REPLACE INTO failure VALUES (?1,?2,?3,?4,?5,?6)"));
    remove_failure.emplace(prepare("DELETE FROM failure WHERE input = ?1"));
    remove_suspect.emplace(prepare("DELETE FROM suspect WHERE input = ?1"));
  }

  Statement prepare(const char* sql) const { return {database.get(), sql}; }

  static FileState state(const Statement::Use& row, int column) {
    return {row.integer(column), row.integer(column + 1), row.integer(column + 2)};
  }
  static void bind(Statement::Use& use, int parameter, const FileState& state) {
    use.bind(parameter, state.size).bind(parameter + 1, state.mtime_ns);
    use.bind(parameter + 2, state.inode);
  }

  static Entry entry(const Statement::Use& row) {
    return {.output = row.bytes(0),
            .input = row.bytes(1),
            .settings = std::uint64_t(row.integer(2)),
            .part = int(row.integer(3)),
            .state = state(row, 4),
            .bytes = row.integer(7),
            .run = row.integer(8)};
  }
  static Failure failure(const Statement::Use& row) {
    return {row.bytes(0), state(row, 1), reason_of(row.bytes(4)), row.bytes(5)};
  }

  void record(const Entry& entry, std::int64_t run) const {
    Statement::Use use(*insert);
    use.bind(1, entry.output).bind(2, entry.input).bind(3, std::int64_t(entry.settings));
    use.bind(4, entry.part).bind(8, entry.bytes).bind(9, run);
    bind(use, 5, entry.state);
    use.step();
    if (entry.part == 0) clear(entry.input);
  }
  void clear(const std::string& input) const {
    for (const auto* remove : {&remove_failure, &remove_suspect}) {
      Statement::Use use(**remove);
      use.bind(1, input);
      use.step();
    }
  }
  void record(const Failure& failure) const {
    clear(failure.input);
    Statement::Use use(*insert_failure);
    const std::string reason(to_string(failure.reason));
    use.bind(1, failure.input).bind_text(5, reason).bind(6, failure.detail);
    bind(use, 2, failure.state);
    use.step();
  }

  std::int64_t number(const char* sql) const {
    const Statement statement(database.get(), sql);
    Statement::Use use(statement);
    return use.step() ? use.integer(0) : 0;
  }

  std::int64_t run() const {
    return number("SELECT CAST(value AS INTEGER) FROM request WHERE what = 'run'");
  }

  Database database;
  std::chrono::steady_clock::time_point synced = std::chrono::steady_clock::now();
  std::optional<Statement> find, find_failure, failed;
  std::optional<Statement> insert, insert_failure, remove_failure, remove_suspect;
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
    run_ = open_->run();
  } catch (const DatabaseError& error) {
    fail(file, error);
  } catch (const fs::filesystem_error& error) {
    throw FatalError(ExitCode::cannot_create, error.what());
  }
}

Ledger::Ledger(const fs::path& file, std::unique_ptr<Open> open)
    : file_(file), read_only_(true), durable_(false), run_(open->run()), open_(std::move(open)) {}

Ledger::~Ledger() = default;

std::unique_ptr<Ledger> Ledger::open_to_read(const fs::path& file) {
  if (!is_there(file)) return nullptr;
  try {
    return std::unique_ptr<Ledger>(new Ledger(file, std::make_unique<Open>(file, true)));
  } catch (const DatabaseError& error) {
    if (error.is_corrupt()) return nullptr;
    fail(file, error);
  }
}

/// Runs `work` on the open file; throws what its errors are to the run.
template <class Work>
auto Ledger::with_file(const Work& work) {
  const std::lock_guard lock(mutex_);
  try {
    return work(*open_);
  } catch (const DatabaseError& error) {
    fail(file_, error);
  }
}

/// All that `write` does, or nothing.
template <class Write>
void Ledger::transaction(bool sync, const Write& write) {
  with_file([&](Open& open) {
    // Syncing takes all that was written before along.
    const auto now = std::chrono::steady_clock::now();
    sync = sync || (durable_ && now - open.synced >= kSyncEvery);
    open.database.execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    open.database.execute("BEGIN IMMEDIATE");
    try {
      write(open);
      open.database.execute("COMMIT");
      if (sync) open.synced = now;
    } catch (const DatabaseError&) {
      // Some errors have rolled back already.
      if (sqlite3_get_autocommit(open.database.get()) == 0) open.database.execute("ROLLBACK");
      throw;
    }
  });
}

std::optional<Entry> Ledger::find(const std::string& output) {
  return with_file([&](const Open& open) {
    Statement::Use use(*open.find);
    use.bind(1, output);
    return use.step() ? std::optional(Open::entry(use)) : std::nullopt;
  });
}

std::optional<Failure> Ledger::find_failure(const std::string& input) {
  return with_file([&](const Open& open) {
    Statement::Use use(*open.find_failure);
    use.bind(1, input);
    return use.step() ? std::optional(Open::failure(use)) : std::nullopt;
  });
}

void Ledger::record(const Changes& changes) {
  if (changes.done.empty() && changes.failed.empty() && changes.cleared.empty()) return;
  transaction(false, [&](const Open& open) {
    for (const std::string& input : changes.cleared) open.clear(input);
    for (const Entry& entry : changes.done) open.record(entry, run_);
    for (const Failure& failure : changes.failed) open.record(failure);
  });
}

void Ledger::record_suspects(std::span<const Suspect> suspects) {
  transaction(true, [&](const Open& open) {
    const Statement insert = open.prepare("INSERT OR REPLACE INTO suspect VALUES (?1,?2,?3,?4,?5)");
    for (const Suspect& suspect : suspects) {
      Statement::Use use(insert);
      use.bind(1, suspect.input).bind(5, std::int64_t(suspect.losses));
      Open::bind(use, 2, suspect.state);
      use.step();
    }
  });
}

std::vector<Suspect> Ledger::suspects() {
  return with_file([](const Open& open) {
    std::vector<Suspect> suspects;
    const Statement select = open.prepare("SELECT * FROM suspect");
    Statement::Use use(select);
    while (use.step()) suspects.push_back({use.bytes(0), Open::state(use, 1), int(use.integer(4))});
    return suspects;
  });
}

void Ledger::forget_suspects() {
  transaction(false, [](Open& open) { open.database.execute("DELETE FROM suspect"); });
}

void Ledger::record_request(const Request& request) {
  transaction(true, [&](Open& open) {
    open.database.execute("DELETE FROM request");
    const Statement insert = open.prepare("INSERT INTO request VALUES (?1,?2)");
    const auto add = [&](std::string_view what, const std::string& value) {
      Statement::Use use(insert);
      use.bind_text(1, what).bind(2, value);
      use.step();
    };
    add("run", std::to_string(run_ + 1));
    add("settings", request.settings);
    for (const std::string& input : request.inputs) add("input", input);
    if (!request.files_from.empty()) add("files-from", request.files_from);
  });
  ++run_;
}

std::optional<Request> Ledger::request() {
  return with_file([](const Open& open) {
    Request request;
    const Statement select = open.prepare("SELECT what, value FROM request ORDER BY rowid");
    Statement::Use use(select);
    bool any = false;
    for (; use.step(); any = true) {
      const std::string what = use.bytes(0);
      if (what == "settings") request.settings = use.bytes(1);
      if (what == "input") request.inputs.push_back(use.bytes(1));
      if (what == "files-from") request.files_from = use.bytes(1);
    }
    return any ? std::optional(std::move(request)) : std::nullopt;
  });
}

Counts Ledger::count() {
  return with_file([](const Open& open) {
    Counts counts;
    counts.done = open.number(
        "SELECT count(DISTINCT input) FROM output WHERE input NOT IN (SELECT input FROM failure)");
    const Statement select = open.prepare("SELECT reason, count(*) FROM failure GROUP BY reason");
    Statement::Use use(select);
    while (use.step()) {
      counts.failed += use.integer(1);
      counts.failures[std::size_t(reason_of(use.bytes(0)))] += use.integer(1);
    }
    return counts;
  });
}

std::vector<Failure> Ledger::failed(int limit) {
  return with_file([&](const Open& open) {
    std::vector<Failure> failures;
    Statement::Use use(*open.failed);
    use.bind(1, std::int64_t(limit));
    while (use.step()) failures.push_back(Open::failure(use));
    return failures;
  });
}

}  // namespace eckart::ledger
