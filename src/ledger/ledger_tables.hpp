#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/database.hpp"
#include "ledger/ledger_file.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

/// Another process has renamed the file while it was opened: to be opened again.
struct LedgerMoved {};

/// A ledger's tables in an open file. One thread at a time; everything throws DatabaseError.
class LedgerTables {
 public:
  /// To write: makes the file if it is missing, and migrates one of an older version; else a copy
  /// in memory is migrated. Throws NotALedger, NewerSchema and LedgerMoved, and changes nothing
  /// then. `timeout` as in Database.
  LedgerTables(const LedgerLocation& location, OpenMode access, std::chrono::milliseconds timeout);

  /// Whether another file, or none, is at the path of the file that is open.
  bool has_moved() const { return database_->has_moved(); }
  /// All that `write` does, or nothing; with `sync` it is on the disk then, and all before it.
  template <class Write>
  void transaction(bool sync, const Write& write) {
    database_->execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    try {
      database_->transaction(write);
    } catch (...) {
      roots_.clear();  // some may not be in the file now
      throw;
    }
  }

  /// Its input is no failure, and no suspect, any more: outputs are recorded when all of an input's
  /// are done.
  void record(const OutputEntry& entry, std::int64_t run) const;
  void record_intent(const OutputEntry& entry, std::int64_t run) const;
  /// The input of an output that is known, without what made the output.
  void update_input(const OutputEntry& entry) const;
  void record(const FailureEntry& failure) const;
  void record(const Suspect& suspect) const;
  void record(const RequestEntry& request, std::int64_t run) const;
  /// The input is no failure, and no suspect, any more.
  void clear(const std::string& input) const;
  /// No input is in the state that this output was made from.
  void clear_input_state(const std::string& output) const;
  void remove_intents(const std::string& output) const;
  void remove_intents(const PublishIntent& intent) const;
  /// As done.
  void remove_output(const std::string& output) const;
  void clear_suspects();

  std::optional<OutputEntry> find(const std::string& output) const;
  std::optional<OutputEntry> find_intent(const PublishIntent& intent) const;
  /// In the order of their outputs.
  std::vector<OutputEntry> intents() const;
  std::vector<OutputEntry> intents(const std::string& output) const;
  void record_settings(const std::vector<std::string>& texts) const;
  /// The next after this output, in the order of their names.
  std::vector<OutputEntry> entries_after(const std::string& output, int limit) const;
  std::vector<std::string> settings_texts() const;
  /// In the order of their names.
  std::vector<std::string> outputs_after(const std::string& output, int limit) const;
  std::optional<FailureEntry> find_failure(const std::string& input) const;
  std::vector<FailureEntry> failed(int limit) const;
  std::vector<std::string> roots() const;
  std::vector<Suspect> suspects() const;
  std::optional<RequestEntry> request() const;
  std::int64_t run() const;  ///< the number of the last that has begun
  InputCounts count() const;
  /// The most outputs first.
  std::vector<SettingsCount> count_by_settings() const;
  /// Empty where it is not known.
  std::string settings_text(std::uint64_t hash) const;

 private:
  void prepare_all(bool read_only);
  Statement prepare(std::string_view sql) const { return {database_->get(), sql}; }
  std::int64_t query_integer(const char* sql) const;
  void insert(const Statement& insert, const OutputEntry& entry, std::int64_t run) const;
  OutputEntry entry(const Statement::Execution& row) const;
  std::int64_t root_id(const std::string& root) const;
  std::string root_path(std::int64_t id) const;

  std::optional<Database> database_;  // which the statements must not outlive
  // Of the roots table, as far as it was needed: by id, by path.
  mutable std::unordered_map<std::int64_t, std::string> paths_;
  mutable std::unordered_map<std::string, std::int64_t> roots_;
  std::optional<Statement> find_, find_intent_, find_intents_, find_failure_;
  std::optional<Statement> insert_, insert_intent_, insert_failure_, remove_failure_,
      remove_suspect_, clear_input_state_, remove_intent_, remove_intents_, update_input_;
};

}  // namespace eckart::ledger
