#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/database.hpp"
#include "ledger/ledger_file.hpp"
#include "ledger/records.hpp"
#include "ledger/root_cache.hpp"

namespace eckart::ledger {

/// The tables of an open ledger. For one thread at a time. Every function throws DatabaseError.
class LedgerTables {
 public:
  /// Opens the file; see open_database().
  LedgerTables(const LedgerLocation& location, OpenMode access, std::chrono::milliseconds timeout);

  /// Whether the path of the open file now names another file or none.
  bool has_moved() const { return database_.has_moved(); }
  /// Runs `write` in a transaction. With `sync`, this and all earlier transactions are durable when
  /// it returns.
  template <class Write>
  void transaction(bool sync, const Write& write) {
    database_.execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    try {
      database_.transaction(write);
    } catch (...) {
      roots_.forget_ids();
      throw;
    }
  }

  /// Also removes the failure and suspect records of its input: outputs are recorded when all
  /// outputs of an input are done.
  void record(const OutputEntry& entry, std::int64_t run) const;
  void record_intent(const OutputEntry& entry, std::int64_t run) const;
  /// Updates the path, state and content hash of the input of a recorded output.
  void update_input(const OutputEntry& entry) const;
  void record(const FailureEntry& failure) const;
  void record(const Suspect& suspect) const;
  void record(const RequestEntry& request, std::int64_t run) const;
  /// Removes the failure and suspect records of an input.
  void clear(const std::string& input) const;
  /// Ensures that no input matches the recorded state of this output.
  void clear_input_state(const std::string& output) const;
  void remove_intents(const std::string& output) const;
  void remove_intents(const PublishIntent& intent) const;
  /// Removes the output's record as done.
  void remove_output(const std::string& output) const;
  void clear_suspects();

  std::optional<OutputEntry> find(const std::string& output) const;
  std::optional<OutputEntry> find_intent(const PublishIntent& intent) const;
  /// Sorted by output.
  std::vector<OutputEntry> intents() const;
  std::vector<OutputEntry> intents(const std::string& output) const;
  void record_settings(const std::vector<std::string>& texts) const;
  /// At most `limit` outputs after `output`, sorted by name.
  std::vector<OutputEntry> entries_after(const std::string& output, int limit) const;
  std::vector<std::string> settings_texts() const;
  /// At most `limit` names after `output`, sorted.
  std::vector<std::string> outputs_after(const std::string& output, int limit) const;
  std::optional<FailureEntry> find_failure(const std::string& input) const;
  std::vector<FailureEntry> failures(int limit) const;
  std::vector<std::string> roots() const { return roots_.paths(); }
  std::vector<Suspect> suspects() const;
  std::optional<RequestEntry> request() const;
  std::int64_t run() const;  ///< the number of the last run; 0 if none
  InputCounts count_inputs() const;
  /// Largest number of outputs first.
  std::vector<SettingsCount> count_by_settings() const;
  /// Empty if unknown.
  std::string settings_text(std::uint64_t hash) const;

 private:
  void prepare_all(bool read_only);
  Statement prepare(std::string_view sql) const { return database_.prepare(sql); }
  std::int64_t query_integer(const char* sql) const;
  void insert(const Statement& insert, const OutputEntry& entry, std::int64_t run) const;
  OutputEntry read_entry(const Statement::Execution& row) const;

  Database database_;  // outlives the statements
  RootCache roots_;
  std::optional<Statement> find_, find_intent_, find_intents_, find_failure_;
  std::optional<Statement> insert_, insert_intent_, insert_failure_, remove_failure_,
      remove_suspect_, clear_input_state_, remove_intent_, remove_intents_, update_input_;
};

}  // namespace eckart::ledger
