#include "ledger/tables.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "ledger/ledger_file.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {

std::uint64_t settings_hash(std::string_view text) {
  constexpr std::uint64_t kOffset = 14695981039346656037U, kPrime = 1099511628211U;
  std::uint64_t hash = kOffset;
  for (const char byte : text) hash = (hash ^ std::uint8_t(byte)) * kPrime;
  return hash;
}

namespace {

namespace fs = std::filesystem;

// An output as entry() reads it, and insert() binds it.
const std::string kColumns =
    "output, root, input, settings, part, size, mtime_ns, inode, bytes, output_mtime_ns, run, "
    "content, report";

std::string insert_into(const char* table) {
  return std::string("INSERT OR REPLACE INTO ") + table + " (" + kColumns +
         ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13)";
}

std::string select_from(const char* table, const char* which) {
  return "SELECT " + kColumns + " FROM " + table + " WHERE " + which;
}

/// What a later version may have written counts as a bug's.
Reason reason_of(const std::string& text) {
  for (int reason = 0; reason < kReasonCount; ++reason) {
    if (to_string(Reason(reason)) == text) return Reason(reason);
  }
  return Reason::internal;
}

FileState state(const Statement::Use& row, int column) {
  return {row.integer(column), row.integer(column + 1), row.integer(column + 2)};
}

void bind(Statement::Use& use, int parameter, const FileState& state) {
  use.bind(parameter, state.size).bind(parameter + 1, state.mtime_ns);
  use.bind(parameter + 2, state.inode);
}

void bind(Statement::Use& use, const Announcement& announcement) {
  use.bind(1, announcement.output).bind(2, announcement.bytes);
  use.bind(3, announcement.output_mtime_ns);
}

Failure failure(const Statement::Use& row) {
  return {row.bytes(0), state(row, 1), reason_of(row.bytes(4)), row.bytes(5)};
}

/// A damaged index may give them in another order: who asks for the next ones, again and again,
/// would never come to the end.
template <class Rows, class NameOf>
void check_order(const std::string& after, const Rows& rows, const NameOf& name_of) {
  if (!rows.empty() && (name_of(rows.front()) <= after ||
                        !std::ranges::is_sorted(rows, std::ranges::less(), name_of)))
    throw DatabaseError{SQLITE_CORRUPT, "outputs are not in their order", 0};
}

}  // namespace

Tables::Tables(const fs::path& file, Access access, std::chrono::milliseconds patience) {
  check_ledger_file(file, patience);
  database_.emplace(file, access, patience);
  const bool read_only = access != Access::write;
  int version = 0;
  try {
    database_->read([&] {
      check_is_ledger(*database_);
      version = schema_version(*database_);
    });
  } catch (const NotALedger&) {
    throw DatabaseError{SQLITE_NOTADB, "is no ledger", 0};
  }
  if (!read_only) {
    database_->execute("PRAGMA journal_mode = WAL");
    migrate(*database_, output_root(file));
  } else if (version == 0) {
    throw DatabaseError{SQLITE_NOTADB, "has no tables", 0};
  } else if (version < kSchemaVersion) {
    database_.emplace(Database(*database_));
    migrate(*database_, output_root(file));
  }
  prepare_all(read_only);
}

void Tables::prepare_all(bool read_only) {
  find_.emplace(prepare(select_from("output", "output = ?1")));
  find_announced_.emplace(
      prepare(select_from("announced", "output = ?1 AND bytes = ?2 AND output_mtime_ns = ?3")));
  find_failure_.emplace(
      prepare("SELECT input, size, mtime_ns, inode, reason, detail FROM failure WHERE input = ?1"));
  if (read_only) return;
  insert_.emplace(prepare(insert_into("output")));
  announce_.emplace(prepare(insert_into("announced")));
  insert_failure_.emplace(
      prepare("INSERT OR REPLACE INTO failure (input, size, mtime_ns, inode, reason, detail) "
              "VALUES (?1,?2,?3,?4,?5,?6)"));
  remove_failure_.emplace(prepare("DELETE FROM failure WHERE input = ?1"));
  remove_suspect_.emplace(prepare("DELETE FROM suspect WHERE input = ?1"));
  move_.emplace(
      prepare("UPDATE output SET root = ?2, input = ?3, size = ?4, mtime_ns = ?5, inode = ?6, "
              "content = coalesce(?7, content) WHERE output = ?1"));
  forget_state_.emplace(prepare("UPDATE output SET size = -1 WHERE output = ?1"));
  forget_announced_.emplace(
      prepare("DELETE FROM announced WHERE output = ?1 AND bytes = ?2 AND output_mtime_ns = ?3"));
  forget_all_announced_.emplace(prepare("DELETE FROM announced WHERE output = ?1"));
}

Entry Tables::entry(const Statement::Use& row) const {
  const std::string root = root_path(row.integer(1));
  return {.output = row.bytes(0),
          .input = root + row.bytes(2),
          .settings = std::uint64_t(row.integer(3)),
          .part = int(row.integer(4)),
          .state = state(row, 5),
          .bytes = row.integer(8),
          .run = row.integer(10),
          .root_size = root.size(),
          .output_mtime_ns = row.integer(9),
          .content = row.bytes(11),
          .report = row.bytes(12)};
}

/// Of a root that is added where it is missing.
std::int64_t Tables::root_id(const std::string& root) const {
  if (const auto known = roots_.find(root); known != roots_.end()) return known->second;
  const Statement insert = prepare("INSERT OR IGNORE INTO root (path) VALUES (?1)");
  Statement::Use(insert).bind(1, root).step();
  const Statement select = prepare("SELECT id FROM root WHERE path = ?1");
  Statement::Use use(select);
  use.bind(1, root).step();
  return roots_[root] = use.integer(0);
}

std::vector<std::string> Tables::roots() const {
  const Statement select = prepare("SELECT path FROM root");
  Statement::Use use(select);
  std::vector<std::string> roots;
  while (use.step()) roots.push_back(use.bytes(0));
  return roots;
}

/// Ids are never given to another root.
std::string Tables::root_path(std::int64_t id) const {
  if (const auto known = paths_.find(id); known != paths_.end()) return known->second;
  const Statement select = prepare("SELECT path FROM root WHERE id = ?1");
  Statement::Use use(select);
  if (!use.bind(1, id).step()) throw DatabaseError{SQLITE_CORRUPT, "an output has no root", 0};
  return paths_[id] = use.bytes(0);
}

void Tables::record(const Entry& entry, std::int64_t run) const {
  insert(*insert_, entry, run);
  forget_announced(entry.output);
  if (entry.part == 0) clear(entry.input);
}

void Tables::announce(const Entry& entry, std::int64_t run) const {
  insert(*announce_, entry, run);
}

void Tables::insert(const Statement& insert, const Entry& entry, std::int64_t run) const {
  Statement::Use use(insert);
  const std::string relative = entry.input.substr(entry.root_size);
  use.bind(1, entry.output).bind(2, root_id(entry.input.substr(0, entry.root_size)));
  use.bind(3, relative).bind(4, std::int64_t(entry.settings)).bind(5, entry.part);
  bind(use, 6, entry.state);
  use.bind(9, entry.bytes).bind(10, entry.output_mtime_ns).bind(11, run);
  if (!entry.content.empty()) use.bind(12, entry.content);
  if (!entry.report.empty()) use.bind(13, entry.report);
  use.step();
}

void Tables::move_input(const Entry& entry) const {
  Statement::Use use(*move_);
  const std::string relative = entry.input.substr(entry.root_size);
  use.bind(1, entry.output).bind(2, root_id(entry.input.substr(0, entry.root_size)));
  use.bind(3, relative);
  bind(use, 4, entry.state);
  if (!entry.content.empty()) use.bind(7, entry.content);
  use.step();
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
  const Statement insert = prepare(
      "INSERT OR REPLACE INTO suspect (input, size, mtime_ns, inode, losses) "
      "VALUES (?1,?2,?3,?4,?5)");
  Statement::Use use(insert);
  use.bind(1, suspect.input).bind(5, std::int64_t(suspect.losses));
  bind(use, 2, suspect.state);
  use.step();
}

void Tables::record(const Request& request, std::int64_t run) const {
  const Statement remove = prepare("DELETE FROM request");
  Statement::Use(remove).step();
  const Statement insert = prepare("INSERT INTO request (what, value) VALUES (?1,?2)");
  const auto add = [&](std::string_view what, const std::string& value) {
    Statement::Use use(insert);
    use.bind_text(1, what).bind(2, value);
    use.step();
  };
  add("run", std::to_string(run));
  add("settings", request.settings);
  for (const std::string& input : request.inputs) add("input", input);
  if (!request.files_from.empty()) add("files-from", request.files_from);
  if (!request.links.empty()) add("links", request.links);
  record_settings(request.output_settings);
}

void Tables::record_settings(const std::vector<std::string>& texts) const {
  const Statement insert = prepare("INSERT OR REPLACE INTO settings (hash, text) VALUES (?1,?2)");
  for (const std::string& text : texts) {
    Statement::Use use(insert);
    use.bind(1, std::int64_t(settings_hash(text))).bind_text(2, text);
    use.step();
  }
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

void Tables::forget_announced(const std::string& output) const {
  Statement::Use use(*forget_all_announced_);
  use.bind(1, output);
  use.step();
}

void Tables::forget_announced(const Announcement& announcement) const {
  Statement::Use use(*forget_announced_);
  bind(use, announcement);
  use.step();
}

void Tables::forget(const std::string& output) const {
  const Statement remove = prepare("DELETE FROM output WHERE output = ?1");
  Statement::Use use(remove);
  use.bind(1, output);
  use.step();
}

void Tables::forget_suspects() { database_->execute("DELETE FROM suspect"); }

std::optional<Entry> Tables::find(const std::string& output) const {
  Statement::Use use(*find_);
  use.bind(1, output);
  return use.step() ? std::optional(entry(use)) : std::nullopt;
}

std::optional<Entry> Tables::find_announced(const Announcement& announcement) const {
  Statement::Use use(*find_announced_);
  bind(use, announcement);
  return use.step() ? std::optional(entry(use)) : std::nullopt;
}

std::vector<Entry> Tables::entries_after(const std::string& output, int limit) const {
  std::vector<Entry> entries;
  const Statement select = prepare(select_from("output", "output > ?1 ORDER BY output LIMIT ?2"));
  Statement::Use use(select);
  use.bind(1, output).bind(2, std::int64_t(limit));
  while (use.step()) entries.push_back(entry(use));
  check_order(output, entries, [](const Entry& one) -> const std::string& { return one.output; });
  return entries;
}

std::vector<std::string> Tables::settings_texts() const {
  std::vector<std::string> texts;
  const Statement select = prepare("SELECT text FROM settings ORDER BY hash");
  for (Statement::Use row(select); row.step();) texts.push_back(row.bytes(0));
  return texts;
}

std::vector<std::string> Tables::outputs_after(const std::string& output, int limit) const {
  std::vector<std::string> outputs;
  const Statement select =
      prepare("SELECT output FROM output WHERE output > ?1 ORDER BY output LIMIT ?2");
  Statement::Use use(select);
  use.bind(1, output).bind(2, std::int64_t(limit));
  while (use.step()) outputs.push_back(use.bytes(0));
  check_order(output, outputs, std::identity());
  return outputs;
}

std::optional<Failure> Tables::find_failure(const std::string& input) const {
  Statement::Use use(*find_failure_);
  use.bind(1, input);
  return use.step() ? std::optional(failure(use)) : std::nullopt;
}

std::vector<Failure> Tables::failed(int limit) const {
  std::vector<Failure> failures;
  const Statement select = prepare(
      "SELECT input, size, mtime_ns, inode, reason, detail FROM failure ORDER BY input LIMIT ?1");
  Statement::Use use(select);
  use.bind(1, std::int64_t(limit));
  while (use.step()) failures.push_back(failure(use));
  return failures;
}

std::vector<Suspect> Tables::suspects() const {
  std::vector<Suspect> suspects;
  const Statement select = prepare("SELECT input, size, mtime_ns, inode, losses FROM suspect");
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
    if (what == "links") request.links = use.bytes(1);
  }
  if (!any) return std::nullopt;
  request.output_settings = settings_texts();
  return request;
}

std::int64_t Tables::run() const {
  return number("SELECT CAST(value AS INTEGER) FROM request WHERE what = 'run'");
}

Counts Tables::count() const {
  Counts counts;
  const bool all = number("SELECT count(*) FROM failure") == 0;
  counts.done = number(
      all ? "SELECT count(*) FROM (SELECT DISTINCT root, input FROM output)"
          : "SELECT count(*) FROM (SELECT DISTINCT root, input FROM output) AS one "
            "JOIN root ON root.id = one.root WHERE CAST(root.path || one.input AS BLOB) NOT IN "
            "(SELECT input FROM failure)");
  const Statement select = prepare("SELECT reason, count(*) FROM failure GROUP BY reason");
  Statement::Use use(select);
  while (use.step()) {
    counts.failed += use.integer(1);
    counts.failures[std::size_t(reason_of(use.bytes(0)))] += use.integer(1);
  }
  return counts;
}

std::vector<SettingsCount> Tables::count_by_settings() const {
  std::vector<SettingsCount> counts;
  const Statement select = prepare(
      "SELECT output.settings, max(settings.text), count(*) FROM output "
      "LEFT JOIN settings ON settings.hash = output.settings "
      "GROUP BY output.settings ORDER BY count(*) DESC");
  for (Statement::Use use(select); use.step();)
    counts.push_back({std::uint64_t(use.integer(0)), use.bytes(1), use.integer(2)});
  return counts;
}

std::string Tables::settings_text(std::uint64_t hash) const {
  const Statement select = prepare("SELECT text FROM settings WHERE hash = ?1");
  Statement::Use use(select);
  return use.bind(1, std::int64_t(hash)).step() ? use.bytes(0) : std::string();
}

std::int64_t Tables::number(const char* sql) const {
  const Statement statement = prepare(sql);
  Statement::Use use(statement);
  return use.step() ? use.integer(0) : 0;
}

}  // namespace eckart::ledger
