#include "ledger/tables.hpp"

#include <sqlite3.h>

#include <fstream>
#include <string_view>
#include <system_error>
#include <utility>

#include "core/state_folder.hpp"

namespace eckart::ledger {
namespace {

namespace fs = std::filesystem;

// A change of the tables changes the number; another number's file is set aside.
constexpr int kSchema = 2;
constexpr int kApplication = 0x45636b61;  // "Ecka", by which a ledger is known anywhere
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

/// Where all files are ours, whatever has become of them.
bool is_in_our_folder(const fs::path& file) {
  return file.parent_path().filename() == kStateFolder;
}

/// Or nothing yet.
bool is_sqlite(const fs::path& file) {
  constexpr std::string_view kMagic = "SQLite format 3";
  std::string begin(kMagic.size(), '\0');
  std::ifstream stream(file, std::ios::binary);
  stream.read(begin.data(), std::streamsize(begin.size()));
  return stream.gcount() == 0 || begin == kMagic;
}

FileState state(const Statement::Use& row, int column) {
  return {row.integer(column), row.integer(column + 1), row.integer(column + 2)};
}

void bind(Statement::Use& use, int parameter, const FileState& state) {
  use.bind(parameter, state.size).bind(parameter + 1, state.mtime_ns);
  use.bind(parameter + 2, state.inode);
}

Entry entry(const Statement::Use& row) {
  return {.output = row.bytes(0),
          .input = row.bytes(1),
          .settings = std::uint64_t(row.integer(2)),
          .part = int(row.integer(3)),
          .state = state(row, 4),
          .bytes = row.integer(7),
          .run = row.integer(8)};
}

Failure failure(const Statement::Use& row) {
  return {row.bytes(0), state(row, 1), reason_of(row.bytes(4)), row.bytes(5)};
}

/// The file itself, before SQLite may take it for something to begin in.
const fs::path& checked(const fs::path& file) {
  if (!is_in_our_folder(file) && !is_sqlite(file)) throw NotALedger();
  return file;
}

}  // namespace

Tables::Tables(const fs::path& file, bool read_only, std::chrono::milliseconds patience)
    : database_(checked(file), read_only, patience) {
  if (!is_in_our_folder(file) && number("PRAGMA application_id") != kApplication &&
      number("SELECT count(*) FROM sqlite_master") > 0)
    throw NotALedger();
  const std::int64_t schema = number("PRAGMA user_version");
  if (schema != kSchema && (schema != 0 || read_only))
    throw DatabaseError{SQLITE_NOTADB, "is of another version", 0};
  if (!read_only) make_tables();
  find_.emplace(prepare("SELECT * FROM output WHERE output = ?1"));
  find_failure_.emplace(prepare("SELECT * FROM failure WHERE input = ?1"));
  if (read_only) return;
  insert_.emplace(prepare("INSERT OR REPLACE INTO output VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9)"));
  insert_failure_.emplace(prepare("INSERT OR REPLACE INTO failure VALUES (?1,?2,?3,?4,?5,?6)"));
  remove_failure_.emplace(prepare("DELETE FROM failure WHERE input = ?1"));
  remove_suspect_.emplace(prepare("DELETE FROM suspect WHERE input = ?1"));
  forget_state_.emplace(prepare("UPDATE output SET size = -1 WHERE output = ?1"));
}

void Tables::make_tables() {
  const auto set = [&](const char* pragma, int value) {
    database_.execute((std::string("PRAGMA ") + pragma + " = " + std::to_string(value)).c_str());
  };
  database_.execute("PRAGMA journal_mode = WAL");
  transaction(false, [&] {
    database_.execute(kTables);
    set("application_id", kApplication);
    set("user_version", kSchema);
  });
}

void Tables::record(const Entry& entry, std::int64_t run) const {
  Statement::Use use(*insert_);
  use.bind(1, entry.output).bind(2, entry.input).bind(3, std::int64_t(entry.settings));
  use.bind(4, entry.part).bind(8, entry.bytes).bind(9, run);
  bind(use, 5, entry.state);
  use.step();
  if (entry.part == 0) clear(entry.input);
}

void Tables::record(const Failure& failure) const {
  clear(failure.input);
  Statement::Use use(*insert_failure_);
  const std::string reason(to_string(failure.reason));
  use.bind(1, failure.input).bind_text(5, reason).bind(6, failure.detail);
  bind(use, 2, failure.state);
  use.step();
}

void Tables::record(const Suspect& suspect) const {
  const Statement insert = prepare("INSERT OR REPLACE INTO suspect VALUES (?1,?2,?3,?4,?5)");
  Statement::Use use(insert);
  use.bind(1, suspect.input).bind(5, std::int64_t(suspect.losses));
  bind(use, 2, suspect.state);
  use.step();
}

void Tables::record(const Request& request, std::int64_t run) const {
  const Statement remove = prepare("DELETE FROM request");
  Statement::Use(remove).step();
  const Statement insert = prepare("INSERT INTO request VALUES (?1,?2)");
  const auto add = [&](std::string_view what, const std::string& value) {
    Statement::Use use(insert);
    use.bind_text(1, what).bind(2, value);
    use.step();
  };
  add("run", std::to_string(run));
  add("settings", request.settings);
  for (const std::string& input : request.inputs) add("input", input);
  if (!request.files_from.empty()) add("files-from", request.files_from);
}

void Tables::clear(const std::string& input) const {
  for (const auto* remove : {&remove_failure_, &remove_suspect_}) {
    Statement::Use use(**remove);
    use.bind(1, input);
    use.step();
  }
}

void Tables::forget_state(const std::string& output) const {
  Statement::Use use(*forget_state_);
  use.bind(1, output);
  use.step();
}

void Tables::forget(const std::string& output) const {
  const Statement remove = prepare("DELETE FROM output WHERE output = ?1");
  Statement::Use use(remove);
  use.bind(1, output);
  use.step();
}

void Tables::forget_suspects() { database_.execute("DELETE FROM suspect"); }

std::optional<Entry> Tables::find(const std::string& output) const {
  Statement::Use use(*find_);
  use.bind(1, output);
  return use.step() ? std::optional(entry(use)) : std::nullopt;
}

std::vector<std::string> Tables::outputs_after(const std::string& output, int limit) const {
  std::vector<std::string> outputs;
  const Statement select =
      prepare("SELECT output FROM output WHERE output > ?1 ORDER BY output LIMIT ?2");
  Statement::Use use(select);
  use.bind(1, output).bind(2, std::int64_t(limit));
  while (use.step()) outputs.push_back(use.bytes(0));
  return outputs;
}

std::optional<Failure> Tables::find_failure(const std::string& input) const {
  Statement::Use use(*find_failure_);
  use.bind(1, input);
  return use.step() ? std::optional(failure(use)) : std::nullopt;
}

std::vector<Failure> Tables::failed(int limit) const {
  std::vector<Failure> failures;
  const Statement select = prepare("SELECT * FROM failure ORDER BY input LIMIT ?1");
  Statement::Use use(select);
  use.bind(1, std::int64_t(limit));
  while (use.step()) failures.push_back(failure(use));
  return failures;
}

std::vector<Suspect> Tables::suspects() const {
  std::vector<Suspect> suspects;
  const Statement select = prepare("SELECT * FROM suspect");
  Statement::Use use(select);
  while (use.step()) suspects.push_back({use.bytes(0), state(use, 1), int(use.integer(4))});
  return suspects;
}

std::optional<Request> Tables::request() const {
  Request request;
  const Statement select = prepare("SELECT what, value FROM request ORDER BY rowid");
  Statement::Use use(select);
  bool any = false;
  for (; use.step(); any = true) {
    const std::string what = use.bytes(0);
    if (what == "settings") request.settings = use.bytes(1);
    if (what == "input") request.inputs.push_back(use.bytes(1));
    if (what == "files-from") request.files_from = use.bytes(1);
  }
  return any ? std::optional(std::move(request)) : std::nullopt;
}

std::int64_t Tables::run() const {
  return number("SELECT CAST(value AS INTEGER) FROM request WHERE what = 'run'");
}

Counts Tables::count() const {
  Counts counts;
  counts.done = number(
      "SELECT count(DISTINCT input) FROM output WHERE input NOT IN (SELECT input FROM failure)");
  const Statement select = prepare("SELECT reason, count(*) FROM failure GROUP BY reason");
  Statement::Use use(select);
  while (use.step()) {
    counts.failed += use.integer(1);
    counts.failures[std::size_t(reason_of(use.bytes(0)))] += use.integer(1);
  }
  return counts;
}

std::int64_t Tables::number(const char* sql) const {
  const Statement statement = prepare(sql);
  Statement::Use use(statement);
  return use.step() ? use.integer(0) : 0;
}

}  // namespace eckart::ledger
