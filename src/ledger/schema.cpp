#include "ledger/schema.hpp"

#include <sqlite3.h>

#include <array>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "ledger/records.hpp"

namespace eckart::ledger {
namespace {

// Paths in `root` are absolute folders that end with "/": root.path and output.input together are
// the absolute path of an input. `version` repeats user_version, so that damage to either is
// noticed. New files of later versions are created by these statements and migrated, so these
// columns never change. An output_mtime_ns of 0 means unknown: see recorded_mtime(). Ledgers of
// earlier programs have the table `output` WITHOUT ROWID, which needs three times as long if names
// arrive in random order: rows of about 1 KB, with their reports, are then inserted at random
// places, and not only their names in the index.
constexpr int kBaseVersion = 3;
constexpr const char* kVersion3Tables = R"(
CREATE TABLE IF NOT EXISTS version (schema INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS root (id INTEGER PRIMARY KEY, path BLOB NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS settings (hash INTEGER PRIMARY KEY, text TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS output (
  output BLOB NOT NULL PRIMARY KEY, root INTEGER NOT NULL, input BLOB NOT NULL,
  settings INTEGER NOT NULL, part INTEGER NOT NULL, size INTEGER NOT NULL,
  mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
  output_mtime_ns INTEGER NOT NULL, run INTEGER NOT NULL, content BLOB, report BLOB);
CREATE TABLE IF NOT EXISTS failure (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS suspect (
  input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL,
  losses INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS request (what TEXT NOT NULL, value BLOB NOT NULL);
)";

std::int64_t query_integer(Database& database, const char* sql) {
  const Statement statement = database.prepare(sql);
  Statement::Execution execution(statement);
  return execution.step() ? execution.integer(0) : 0;
}

void set_pragma(Database& database, const char* pragma, int value) {
  database.execute((std::string("PRAGMA ") + pragma + " = " + std::to_string(value)).c_str());
}

bool has_column(Database& database, const char* table, const char* column) {
  const Statement statement =
      database.prepare("SELECT count(*) FROM pragma_table_info(?1) WHERE name = ?2");
  Statement::Execution execution(statement);
  execution.bind_text(1, table).bind_text(2, column);
  return execution.step() && execution.integer(0) > 0;
}

/// Version 1 had absolute output paths, and failures in the output table. Failures are not
/// migrated, because failed inputs are tried again anyway.
void migrate_1_to_2(Database& database, const std::filesystem::path& output_root) {
  database.execute(R"(
    CREATE TABLE IF NOT EXISTS failure (
      input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
      inode INTEGER NOT NULL, reason TEXT NOT NULL, detail BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS suspect (
      input BLOB PRIMARY KEY, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
      inode INTEGER NOT NULL, losses INTEGER NOT NULL) WITHOUT ROWID;
    CREATE TABLE IF NOT EXISTS request (what TEXT NOT NULL, value BLOB NOT NULL);
    ALTER TABLE output RENAME TO old_output;
    CREATE TABLE output (
      output BLOB PRIMARY KEY, input BLOB NOT NULL, settings INTEGER NOT NULL,
      part INTEGER NOT NULL, size INTEGER NOT NULL, mtime_ns INTEGER NOT NULL,
      inode INTEGER NOT NULL, bytes INTEGER NOT NULL, run INTEGER NOT NULL) WITHOUT ROWID)");
  const std::string root = (output_root / "").native();
  const Statement move = database.prepare(R"(
    INSERT INTO output SELECT substr(output, length(?1) + 1), input, settings, part, size, mtime_ns,
      inode, bytes, 0 FROM old_output WHERE done = 1 AND substr(output, 1, length(?1)) = ?1)");
  Statement::Execution execution(move);
  execution.bind(1, root).step();
  database.execute("DROP TABLE old_output");
}

/// Finds the roots of inputs: the inputs that the last run was given.
class RootTable {
 public:
  explicit RootTable(Database& database)
      : insert_(database.prepare("INSERT INTO root (id, path) VALUES (?1, ?2)")) {
    const Statement select = database.prepare("SELECT value FROM request WHERE what = 'input'");
    for (Statement::Execution execution(select); execution.step();)
      requested_.insert(execution.bytes(0));
  }

  /// Length of the root at the start of an absolute path.
  std::size_t root_length(const std::string& input) const {
    const auto parent = [](std::string_view path) {
      const std::size_t slash = path.rfind('/');
      return path.substr(0, slash == std::string_view::npos ? 0 : slash);
    };
    if (requested_.contains(input)) return parent(input).size() + 1;
    for (std::string_view folder = parent(input); !folder.empty(); folder = parent(folder)) {
      if (requested_.contains(std::string(folder)) ||
          requested_.contains(std::string(folder) + "/"))
        return folder.size() + 1;
    }
    return 1;
  }

  std::int64_t id(const std::string& root) {
    const auto [entry, is_new] = ids_.emplace(root, std::int64_t(ids_.size()) + 1);
    if (is_new) {
      Statement::Execution execution(insert_);
      execution.bind(1, entry->second).bind(2, root).step();
    }
    return entry->second;
  }

 private:
  const Statement insert_;
  std::unordered_set<std::string> requested_;
  std::unordered_map<std::string, std::int64_t> ids_;
};

/// Version 2 had absolute input paths. The first programs that wrote it had a time column in place
/// of the run number.
void migrate_2_to_3(Database& database, const std::filesystem::path& /*output_root*/) {
  const bool has_run = has_column(database, "output", "run");
  database.execute("ALTER TABLE output RENAME TO old_output");
  database.execute(kVersion3Tables);
  RootTable roots(database);
  const Statement select = database.prepare(
      has_run ? "SELECT output, input, settings, part, size, mtime_ns, inode, bytes, run FROM "
                "old_output ORDER BY output"
              : "SELECT output, input, settings, part, size, mtime_ns, inode, bytes, 0 FROM "
                "old_output ORDER BY output");
  const Statement insert = database.prepare(R"(
    INSERT INTO output (output, root, input, settings, part, size, mtime_ns, inode, bytes,
                        output_mtime_ns, run) VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,0,?10))");
  for (Statement::Execution row(select); row.step();) {
    const std::string output = row.bytes(0), input = row.bytes(1);
    const std::size_t length = input.starts_with('/') ? roots.root_length(input) : 0;
    const std::string relative = input.substr(length);
    Statement::Execution execution(insert);
    execution.bind(1, output).bind(2, roots.id(input.substr(0, length))).bind(3, relative);
    for (int column = 2; column <= 8; ++column) execution.bind(column + 2, row.integer(column));
    execution.step();
  }
  database.execute("DROP TABLE old_output");
}

/// Version 3 had publish intents in the output table, marked by kUnknownBytes, and they replaced
/// the record of the output as done. In version 4, one output may have several intents: of killed
/// runs and of the current one. An intent without a time is dropped, because it would match any
/// file.
void migrate_3_to_4(Database& database, const std::filesystem::path& /*output_root*/) {
  database.execute(R"(
    CREATE TABLE publish_intent (
      output BLOB NOT NULL, root INTEGER NOT NULL, input BLOB NOT NULL,
      settings INTEGER NOT NULL, part INTEGER NOT NULL, size INTEGER NOT NULL,
      mtime_ns INTEGER NOT NULL, inode INTEGER NOT NULL, bytes INTEGER NOT NULL,
      output_mtime_ns INTEGER NOT NULL, run INTEGER NOT NULL, content BLOB, report BLOB,
      PRIMARY KEY (output, output_mtime_ns, bytes)) WITHOUT ROWID;
    INSERT INTO publish_intent SELECT output, root, input, settings, part, size, mtime_ns, inode, -1,
      output_mtime_ns, run, content, report FROM output
      WHERE bytes < 0 AND output_mtime_ns != 0;
    DELETE FROM output WHERE bytes < 0)");
}

/// Version 4 had a row for each publish intent, and each report with its keys. In version 5, the
/// intents of outputs that are published together are one row, and `report` has only the values if
/// `report_keys` is not null. IDs of groups are never used again: another process may have removed
/// the group.
void migrate_4_to_5(Database& database, const std::filesystem::path& /*output_root*/) {
  database.execute(R"(
    CREATE TABLE intent_group (
      id INTEGER PRIMARY KEY AUTOINCREMENT, run INTEGER NOT NULL, intents BLOB NOT NULL);
    CREATE TABLE report_keys (id INTEGER PRIMARY KEY, keys BLOB NOT NULL UNIQUE);
    ALTER TABLE output ADD COLUMN report_keys INTEGER;
    ALTER TABLE publish_intent ADD COLUMN report_keys INTEGER)");
}

using Migration = void (*)(Database& database, const std::filesystem::path& output_root);
/// Entry i migrates from version i + 1 to i + 2.
constexpr std::array<Migration, kSchemaVersion - 1> kMigrations = {migrate_1_to_2, migrate_2_to_3,
                                                                   migrate_3_to_4, migrate_4_to_5};

void set_version(Database& database, int version) {
  set_pragma(database, "user_version", version);
  set_pragma(database, "application_id", kApplicationId);
  if (version < kBaseVersion) return;
  database.execute("DELETE FROM version");
  database.execute(("INSERT INTO version VALUES (" + std::to_string(version) + ")").c_str());
}

/// Creates the tables of a new file, or migrates by one version, unless another process has done
/// so.
void create_or_migrate(Database& database, const std::filesystem::path& output_root) {
  int version = schema_version(database);
  if (version == kSchemaVersion) return;
  const int last = version == 0 ? kSchemaVersion : version + 1;
  if (version == 0) {
    database.execute(kVersion3Tables);
    version = kBaseVersion;
  }
  for (; version < last; ++version) kMigrations[std::size_t(version) - 1](database, output_root);
  set_version(database, last);
}

}  // namespace

void check_is_ledger(Database& database) {
  const std::int64_t application_id = query_integer(database, "PRAGMA application_id");
  if (application_id == kApplicationId) return;
  const std::int64_t tables = query_integer(database, "SELECT count(*) FROM sqlite_master");
  const std::int64_t version = query_integer(database, "PRAGMA user_version");
  const bool is_empty = tables == 0 && version == 0;
  const bool is_old = version > 0 && version < kBaseVersion &&
                      has_column(database, "output", "output") &&
                      has_column(database, "output", "settings");
  if (application_id != 0 || (!is_empty && !is_old)) throw NotALedger();
}

int schema_version(Database& database) {
  const std::int64_t version = query_integer(database, "PRAGMA user_version");
  const bool has_table =
      query_integer(database, "SELECT count(*) FROM sqlite_master WHERE name = 'version'") > 0;
  const std::int64_t repeated =
      has_table ? query_integer(database, "SELECT schema FROM version") : 0;
  if (version < 0 || ((has_table || version >= kBaseVersion) && repeated != version))
    throw DatabaseError{SQLITE_CORRUPT, "the schema version is damaged", 0};
  if (version > kSchemaVersion) throw NewerSchema{version};
  return int(version);
}

void migrate(Database& database, const std::filesystem::path& output_root) {
  database.execute("PRAGMA synchronous = FULL");
  for (int version = 0; version < kSchemaVersion;) {
    database.read_transaction([&] { version = schema_version(database); });
    if (version < kSchemaVersion)
      database.transaction([&] { create_or_migrate(database, output_root); });
  }
}

}  // namespace eckart::ledger
