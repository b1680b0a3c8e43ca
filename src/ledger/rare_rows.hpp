#pragma once

#include <string>

#include "ledger/database.hpp"

namespace eckart::ledger {

/// Removes rows by key from a table that is usually empty. Then a removal needs no statement.
class RareRows {
 public:
  RareRows(const Database& database, const std::string& table, const std::string& key)
      : exist_(database.prepare("SELECT 1 FROM " + table + " LIMIT 1")),
        remove_(database.prepare("DELETE FROM " + table + " WHERE " + key + " = ?1")) {}

  /// To be called at the beginning of each transaction: other processes may have changed the table.
  void begin_transaction() { may_exist_ = Statement::Execution(exist_).step(); }
  /// To be called when this transaction adds rows.
  void add() { may_exist_ = true; }
  void remove(const std::string& key) const {
    if (may_exist_) Statement::Execution(remove_).bind(1, key).step();
  }

 private:
  Statement exist_, remove_;
  bool may_exist_ = true;
};

}  // namespace eckart::ledger
