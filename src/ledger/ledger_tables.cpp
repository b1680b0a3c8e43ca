#include "ledger/ledger_tables.hpp"

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>
#include <utility>

#include "ledger/open_database.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {
namespace {

/// A reason that this version does not know counts as `internal`.
FailureReason parse_reason(const std::string& text) {
  for (int reason = 0; reason < kFailureReasonCount; ++reason) {
    if (to_string(FailureReason(reason)) == text) return FailureReason(reason);
  }
  return FailureReason::internal;
}

files::FileState read_state(const Statement::Execution& row, int column) {
  return {row.integer(column), row.integer(column + 1), row.integer(column + 2)};
}

void bind(Statement::Execution& execution, int parameter, const files::FileState& state) {
  execution.bind(parameter, state.size).bind(parameter + 1, state.mtime_ns);
  execution.bind(parameter + 2, state.inode);
}

FailureEntry read_failure(const Statement::Execution& row) {
  return {row.bytes(0), read_state(row, 1), parse_reason(row.bytes(4)), row.bytes(5)};
}

/// Throws if rows are out of order, as with a damaged index. A caller that pages through them would
/// never reach the end.
template <class Rows, class NameOf>
void check_order(const std::string& after, const Rows& rows, const NameOf& name_of) {
  if (!rows.empty() && (name_of(rows.front()) <= after ||
                        !std::ranges::is_sorted(rows, std::ranges::less(), name_of)))
    throw DatabaseError{SQLITE_CORRUPT, "outputs are out of order", 0};
}

}  // namespace

LedgerTables::LedgerTables(const LedgerLocation& location, OpenMode access,
                           std::chrono::milliseconds timeout)
    : database_(open_database(location, access, timeout)),
      rows_(database_),
      intents_(database_, rows_),
      failures_(database_, "failure", "input"),
      suspects_(database_, "suspect", "input"),
      find_(prepare(OutputRows::select_from("output", "output = ?1"))),
      find_failure_(prepare(
          "SELECT input, size, mtime_ns, inode, reason, detail FROM failure WHERE input = ?1")),
      insert_(prepare(OutputRows::insert_into("output"))),
      insert_failure_(
          prepare("INSERT OR REPLACE INTO failure (input, size, mtime_ns, inode, reason, detail) "
                  "VALUES (?1,?2,?3,?4,?5,?6)")),
      update_input_(
          prepare("UPDATE output SET root = ?2, input = ?3, size = ?4, mtime_ns = ?5, inode = ?6, "
                  "content = coalesce(?7, content) WHERE output = ?1")),
      clear_input_state_(prepare("UPDATE output SET size = -1 WHERE output = ?1")) {}

void LedgerTables::begin_transaction() {
  intents_.begin_transaction();
  failures_.begin_transaction();
  suspects_.begin_transaction();
}

/// Forgets what a failed transaction may have changed.
void LedgerTables::forget() {
  rows_.forget_ids();
  intents_.forget_groups();
}

void LedgerTables::set_synchronous(bool sync) {
  if (is_synchronous_ == sync) return;
  database_.execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
  is_synchronous_ = sync;
}

void LedgerTables::record(const PreparedChanges& prepared, std::int64_t run) {
  const LedgerChanges& changes = prepared.changes;
  for (const std::string& input : changes.cleared) clear(input);
  record_done(prepared, run);
  for (const FailureEntry& failure : changes.failed) record(failure);
  for (const OutputEntry& entry : changes.input_updates) update_input(entry);
  for (const std::string& output : changes.outputs_without_input) clear_input_state(output);
  intents_.record(changes.intents, prepared.intents, run);
  for (const PublishIntent& intent : changes.abandoned_intents) intents_.remove(intent);
}

/// Also removes the failure and suspect records of the inputs: outputs are recorded when all
/// outputs of an input are done.
void LedgerTables::record_done(const PreparedChanges& prepared, std::int64_t run) {
  const std::vector<OutputEntry>& done = prepared.changes.done;
  for (std::size_t i = 0; i < done.size(); ++i) {
    rows_.insert(insert_, done[i], prepared.reports[i], run);
    clear(done[i].input);
  }
  intents_.remove(done);
}

/// Updates the path, state and content hash of the input of a recorded output.
void LedgerTables::update_input(const OutputEntry& entry) const {
  Statement::Execution execution(update_input_);
  execution.bind(1, entry.output).bind(2, rows_.roots().id_of(root_of(entry)));
  execution.bind(3, std::string_view(entry.input).substr(entry.root_length));
  bind(execution, 4, entry.state);
  if (!entry.content_hash.empty()) execution.bind(7, entry.content_hash);
  execution.step();
}

void LedgerTables::record(const FailureEntry& failure) {
  clear(failure.input);
  Statement::Execution execution(insert_failure_);
  const std::string reason(to_string(failure.reason));
  execution.bind(1, failure.input).bind_text(5, reason).bind(6, failure.detail);
  bind(execution, 2, failure.state);
  execution.step();
  failures_.add();
}

void LedgerTables::record(const Suspect& suspect) {
  const Statement insert = prepare(
      "INSERT OR REPLACE INTO suspect (input, size, mtime_ns, inode, losses) "
      "VALUES (?1,?2,?3,?4,?5)");
  Statement::Execution execution(insert);
  execution.bind(1, suspect.input).bind(5, std::int64_t(suspect.losses));
  bind(execution, 2, suspect.state);
  execution.step();
  suspects_.add();
}

void LedgerTables::record(const RequestEntry& request, std::int64_t run) const {
  const Statement remove = prepare("DELETE FROM request");
  Statement::Execution(remove).step();
  const Statement insert = prepare("INSERT INTO request (what, value) VALUES (?1,?2)");
  const auto add = [&](std::string_view key, const std::string& value) {
    Statement::Execution execution(insert);
    execution.bind_text(1, key).bind(2, value);
    execution.step();
  };
  add("run", std::to_string(run));
  add("settings", request.settings);
  for (const std::string& input : request.inputs) add("input", input);
  if (!request.files_from.empty()) add("files-from", request.files_from);
  if (request.links) add("links", to_string(*request.links));
  record_settings(request.output_settings);
}

void LedgerTables::record_settings(const std::vector<std::string>& texts) const {
  const Statement insert = prepare("INSERT OR REPLACE INTO settings (hash, text) VALUES (?1,?2)");
  for (const std::string& text : texts) {
    Statement::Execution execution(insert);
    execution.bind(1, std::int64_t(settings_hash(text))).bind_text(2, text);
    execution.step();
  }
}

/// Removes the failure and suspect records of an input.
void LedgerTables::clear(const std::string& input) const {
  failures_.remove(input);
  suspects_.remove(input);
}

/// Ensures that no input matches the recorded state of this output.
void LedgerTables::clear_input_state(const std::string& output) const {
  Statement::Execution execution(clear_input_state_);
  execution.bind(1, output);
  execution.step();
}

void LedgerTables::rename_outputs(std::size_t removed, const std::string& prefix) const {
  const Statement rename = prepare(
      "UPDATE output SET output = CAST(CAST(?1 AS TEXT) || CAST(substr(output, ?2) AS TEXT) AS "
      "BLOB)");
  Statement::Execution execution(rename);
  execution.bind(1, prefix).bind(2, std::int64_t(removed) + 1);
  execution.step();
}

void LedgerTables::remove_output(const std::string& output) const {
  const Statement remove = prepare("DELETE FROM output WHERE output = ?1");
  Statement::Execution execution(remove);
  execution.bind(1, output);
  execution.step();
}

void LedgerTables::clear_suspects() { database_.execute("DELETE FROM suspect"); }

std::optional<OutputEntry> LedgerTables::find(const std::string& output) const {
  Statement::Execution execution(find_);
  execution.bind(1, output);
  return execution.step() ? std::optional(rows_.read(execution)) : std::nullopt;
}

std::vector<OutputEntry> LedgerTables::entries_after(const std::string& output, int limit) const {
  std::vector<OutputEntry> entries;
  const Statement select =
      prepare(OutputRows::select_from("output", "output > ?1 ORDER BY output LIMIT ?2"));
  Statement::Execution execution(select);
  execution.bind(1, output).bind(2, std::int64_t(limit));
  while (execution.step()) entries.push_back(rows_.read(execution));
  check_order(output, entries,
              [](const OutputEntry& entry) -> const std::string& { return entry.output; });
  return entries;
}

std::vector<std::string> LedgerTables::settings_texts() const {
  std::vector<std::string> texts;
  const Statement select = prepare("SELECT text FROM settings ORDER BY hash");
  for (Statement::Execution row(select); row.step();) texts.push_back(row.bytes(0));
  return texts;
}

void LedgerTables::copy_to(const std::filesystem::path& file) const {
  const Statement copy = prepare("VACUUM INTO ?1");
  Statement::Execution execution(copy);
  execution.bind_text(1, file.native()).step();
}

std::vector<std::string> LedgerTables::outputs_after(const std::string& output, int limit) const {
  std::vector<std::string> outputs;
  const Statement select =
      prepare("SELECT output FROM output WHERE output > ?1 ORDER BY output LIMIT ?2");
  Statement::Execution execution(select);
  execution.bind(1, output).bind(2, std::int64_t(limit));
  while (execution.step()) outputs.push_back(execution.bytes(0));
  check_order(output, outputs, std::identity());
  return outputs;
}

std::optional<FailureEntry> LedgerTables::find_failure(const std::string& input) const {
  Statement::Execution execution(find_failure_);
  execution.bind(1, input);
  return execution.step() ? std::optional(read_failure(execution)) : std::nullopt;
}

std::vector<FailureEntry> LedgerTables::failures(int limit) const {
  std::vector<FailureEntry> failures;
  const Statement select = prepare(
      "SELECT input, size, mtime_ns, inode, reason, detail FROM failure ORDER BY input LIMIT ?1");
  Statement::Execution execution(select);
  execution.bind(1, std::int64_t(limit));
  while (execution.step()) failures.push_back(read_failure(execution));
  return failures;
}

std::vector<Suspect> LedgerTables::suspects() const {
  std::vector<Suspect> suspects;
  const Statement select = prepare("SELECT input, size, mtime_ns, inode, losses FROM suspect");
  Statement::Execution execution(select);
  while (execution.step())
    suspects.push_back({execution.bytes(0), read_state(execution, 1), int(execution.integer(4))});
  return suspects;
}

std::optional<RequestEntry> LedgerTables::request() const {
  RequestEntry request;
  const Statement select = prepare("SELECT what, value FROM request ORDER BY rowid");
  Statement::Execution execution(select);
  bool has_rows = false;
  for (; execution.step(); has_rows = true) {
    const std::string key = execution.bytes(0);
    if (key == "settings") request.settings = execution.bytes(1);
    if (key == "input") request.inputs.push_back(execution.bytes(1));
    if (key == "files-from") request.files_from = execution.bytes(1);
    if (key == "links") request.links = parse_enum<files::LinkPolicy>(execution.bytes(1));
  }
  if (!has_rows) return std::nullopt;
  request.output_settings = settings_texts();
  return request;
}

std::int64_t LedgerTables::run() const {
  return query_integer("SELECT CAST(value AS INTEGER) FROM request WHERE what = 'run'");
}

InputCounts LedgerTables::count_inputs() const {
  InputCounts counts;
  const bool has_no_failures = query_integer("SELECT count(*) FROM failure") == 0;
  counts.done = query_integer(
      has_no_failures
          ? "SELECT count(*) FROM (SELECT DISTINCT root, input FROM output)"
          : "SELECT count(*) FROM (SELECT DISTINCT root, input FROM output) AS one "
            "JOIN root ON root.id = one.root WHERE CAST(root.path || one.input AS BLOB) NOT IN "
            "(SELECT input FROM failure)");
  const Statement select = prepare("SELECT reason, count(*) FROM failure GROUP BY reason");
  Statement::Execution execution(select);
  while (execution.step()) {
    counts.failed += execution.integer(1);
    counts.failures[std::size_t(parse_reason(execution.bytes(0)))] += execution.integer(1);
  }
  return counts;
}

std::vector<SettingsCount> LedgerTables::count_by_settings() const {
  std::vector<SettingsCount> counts;
  const Statement select = prepare(
      "SELECT output.settings, max(settings.text), count(*) FROM output "
      "LEFT JOIN settings ON settings.hash = output.settings "
      "GROUP BY output.settings ORDER BY count(*) DESC");
  for (Statement::Execution execution(select); execution.step();)
    counts.push_back(
        {std::uint64_t(execution.integer(0)), execution.bytes(1), execution.integer(2)});
  return counts;
}

std::string LedgerTables::settings_text(std::uint64_t hash) const {
  const Statement select = prepare("SELECT text FROM settings WHERE hash = ?1");
  Statement::Execution execution(select);
  return execution.bind(1, std::int64_t(hash)).step() ? execution.bytes(0) : std::string();
}

std::int64_t LedgerTables::query_integer(const char* sql) const {
  const Statement statement = prepare(sql);
  Statement::Execution execution(statement);
  return execution.step() ? execution.integer(0) : 0;
}

}  // namespace eckart::ledger
