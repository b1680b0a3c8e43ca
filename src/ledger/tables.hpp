#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/database.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

/// What a file that is there, and was not made by us, is called by.
struct NotALedger {};

/// A ledger's tables in an open file. One thread at a time; everything throws DatabaseError.
class Tables {
 public:
  /// Makes the file if it is missing, unless it is to be read alone. Throws NotALedger, and changes
  /// nothing then. `patience` as Database has it.
  Tables(const std::filesystem::path& file, bool read_only, std::chrono::milliseconds patience);

  /// All that `write` does, or nothing; with `sync` it is on the disk then, and all before it.
  template <class Write>
  void transaction(bool sync, const Write& write) {
    database_.execute(sync ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL");
    database_.execute("BEGIN IMMEDIATE");
    try {
      write();
      database_.execute("COMMIT");
    } catch (const DatabaseError&) {
      database_.roll_back();
      throw;
    }
  }

  void record(const Entry& entry, std::int64_t run) const;
  void record(const Failure& failure) const;
  void record(const Suspect& suspect) const;
  void record(const Request& request, std::int64_t run) const;
  /// The input is no failure, and no suspect, any more.
  void clear(const std::string& input) const;
  /// No input is in the state that this output was made from.
  void forget_state(const std::string& output) const;
  void forget(const std::string& output) const;
  void forget_suspects();

  std::optional<Entry> find(const std::string& output) const;
  /// In the order of their names.
  std::vector<std::string> outputs_after(const std::string& output, int limit) const;
  std::optional<Failure> find_failure(const std::string& input) const;
  std::vector<Failure> failed(int limit) const;
  std::vector<Suspect> suspects() const;
  std::optional<Request> request() const;
  std::int64_t run() const;  ///< the number of the last that has begun
  Counts count() const;

 private:
  void make_tables();
  Statement prepare(const char* sql) const { return {database_.get(), sql}; }
  std::int64_t number(const char* sql) const;

  Database database_;  // which the statements must not outlive
  std::optional<Statement> find_, find_failure_;
  std::optional<Statement> insert_, insert_failure_, remove_failure_, remove_suspect_,
      forget_state_;
};

}  // namespace eckart::ledger
