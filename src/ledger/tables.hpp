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
#include "ledger/records.hpp"

namespace eckart::ledger {

/// A ledger's tables in an open file. One thread at a time; everything throws DatabaseError.
class Tables {
 public:
  /// To write: makes the file if it is missing, and migrates one of an older version; else a copy
  /// in memory is migrated. Throws NotALedger and NewerSchema, and changes nothing then. `patience`
  /// as Database has it.
  Tables(const std::filesystem::path& file, Access access, std::chrono::milliseconds patience);

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

  void record(const Entry& entry, std::int64_t run) const;
  void announce(const Entry& entry, std::int64_t run) const;
  /// The input of an output that is known, without what made the output.
  void move_input(const Entry& entry) const;
  void record(const Failure& failure) const;
  void record(const Suspect& suspect) const;
  void record(const Request& request, std::int64_t run) const;
  /// The input is no failure, and no suspect, any more.
  void clear(const std::string& input) const;
  /// No input is in the state that this output was made from.
  void forget_state(const std::string& output) const;
  void forget_announced(const std::string& output) const;
  void forget_announced(const Announcement& announcement) const;
  /// As done.
  void forget(const std::string& output) const;
  void forget_suspects();

  std::optional<Entry> find(const std::string& output) const;
  std::optional<Entry> find_announced(const Announcement& announcement) const;
  void record_settings(const std::vector<std::string>& texts) const;
  /// The next after this output, in the order of their names.
  std::vector<Entry> entries_after(const std::string& output, int limit) const;
  std::vector<std::string> settings_texts() const;
  /// In the order of their names.
  std::vector<std::string> outputs_after(const std::string& output, int limit) const;
  std::optional<Failure> find_failure(const std::string& input) const;
  std::vector<Failure> failed(int limit) const;
  std::vector<std::string> roots() const;
  std::vector<Suspect> suspects() const;
  std::optional<Request> request() const;
  std::int64_t run() const;  ///< the number of the last that has begun
  Counts count() const;
  /// The most outputs first.
  std::vector<SettingsCount> count_by_settings() const;
  /// Empty where it is not known.
  std::string settings_text(std::uint64_t hash) const;

 private:
  void prepare_all(bool read_only);
  Statement prepare(std::string_view sql) const { return {database_->get(), sql}; }
  std::int64_t number(const char* sql) const;
  void insert(const Statement& insert, const Entry& entry, std::int64_t run) const;
  Entry entry(const Statement::Use& row) const;
  std::int64_t root_id(const std::string& root) const;
  std::string root_path(std::int64_t id) const;

  std::optional<Database> database_;  // which the statements must not outlive
  // Of the roots table, as far as it was needed: by id, by path.
  mutable std::unordered_map<std::int64_t, std::string> paths_;
  mutable std::unordered_map<std::string, std::int64_t> roots_;
  std::optional<Statement> find_, find_announced_, find_failure_;
  std::optional<Statement> insert_, announce_, insert_failure_, remove_failure_, remove_suspect_,
      forget_state_, forget_announced_, forget_all_announced_, move_;
};

}  // namespace eckart::ledger
