#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ledger/database.hpp"
#include "ledger/intent_tables.hpp"
#include "ledger/ledger_file.hpp"
#include "ledger/output_rows.hpp"
#include "ledger/prepared_changes.hpp"
#include "ledger/rare_rows.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

/// The tables of an open ledger. For one thread at a time. Every function throws DatabaseError.
class LedgerTables {
 public:
  /// Opens the file; see open_database().
  LedgerTables(const LedgerLocation& location, OpenMode access, std::chrono::milliseconds timeout);
  LedgerTables(const LedgerTables&) = delete;
  LedgerTables& operator=(const LedgerTables&) = delete;

  /// Whether the path of the open file now names another file or none.
  bool has_moved() const { return database_.has_moved(); }
  /// Runs `write` in a transaction. With `sync`, this and all earlier transactions are durable when
  /// it returns.
  template <class Write>
  void transaction(bool sync, const Write& write) {
    set_synchronous(sync);
    try {
      database_.transaction([&] {
        begin_transaction();
        write();
      });
    } catch (...) {
      forget();
      throw;
    }
  }

  void record(const PreparedChanges& changes, std::int64_t run);
  void record(const Suspect& suspect);
  void record(const RequestEntry& request, std::int64_t run) const;
  /// Replaces the first `removed` bytes of the names of all outputs by `prefix`.
  void rename_outputs(std::size_t removed, const std::string& prefix) const;
  /// Removes the output's record as done.
  void remove_output(const std::string& output) const;
  void clear_suspects();

  std::optional<OutputEntry> find(const std::string& output) const;
  const IntentTables& intents() const { return intents_; }
  void record_settings(const std::vector<std::string>& texts) const;
  /// At most `limit` outputs after `output`, sorted by name.
  std::vector<OutputEntry> entries_after(const std::string& output, int limit) const;
  std::vector<std::string> settings_texts() const;
  /// `file` must not exist.
  void copy_to(const std::filesystem::path& file) const;
  /// At most `limit` names after `output`, sorted.
  std::vector<std::string> outputs_after(const std::string& output, int limit) const;
  std::optional<FailureEntry> find_failure(const std::string& input) const;
  std::vector<FailureEntry> failures(int limit) const;
  std::vector<std::string> roots() const { return rows_.roots().texts(); }
  std::vector<Suspect> suspects() const;
  std::optional<RequestEntry> request() const;
  std::int64_t run() const;  ///< the number of the last run; 0 if none
  InputCounts count_inputs() const;
  /// Largest number of outputs first.
  std::vector<SettingsCount> count_by_settings() const;
  /// Empty if unknown.
  std::string settings_text(std::uint64_t hash) const;

 private:
  void begin_transaction();
  void forget();
  void set_synchronous(bool sync);
  Statement prepare(std::string_view sql) const { return database_.prepare(sql); }
  std::int64_t query_integer(const char* sql) const;
  void record_done(const PreparedChanges& changes, std::int64_t run);
  void record(const FailureEntry& failure);
  void update_input(const OutputEntry& entry) const;
  void clear_input_state(const std::string& output) const;
  void clear(const std::string& input) const;

  Database database_;  // outlives the statements
  std::optional<bool> is_synchronous_;
  OutputRows rows_;
  IntentTables intents_;
  RareRows failures_, suspects_;
  Statement find_, find_failure_, insert_, insert_failure_, update_input_, clear_input_state_;
};

}  // namespace eckart::ledger
