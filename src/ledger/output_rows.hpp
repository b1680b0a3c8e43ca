#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ledger/database.hpp"
#include "ledger/records.hpp"
#include "ledger/report_text.hpp"
#include "ledger/text_table.hpp"

namespace eckart::ledger {

/// Rows of the tables `output` and `publish_intent`, which have the same columns. For one thread at
/// a time. Every function throws DatabaseError.
class OutputRows {
 public:
  /// `database` must outlive this object.
  explicit OutputRows(const Database& database)
      : roots_(database, "root", "path"), report_keys_(database, "report_keys", "keys") {}

  /// A statement for insert().
  static std::string insert_into(const char* table);
  /// A statement for read().
  static std::string select_from(const char* table, const char* condition);

  /// `report` has no keys if it is the text of the whole report.
  void insert(const Statement& insert, const OutputEntry& entry, const SplitReportView& report,
              std::int64_t run) const;
  OutputEntry read(const Statement::Execution& row) const;

  const TextTable& roots() const { return roots_; }
  /// To be called if a transaction is rolled back.
  void forget_ids();

 private:
  TextTable roots_, report_keys_;
};

/// The path of the root of the entry's input.
std::string_view root_of(const OutputEntry& entry);

}  // namespace eckart::ledger
