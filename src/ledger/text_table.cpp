#include "ledger/text_table.hpp"

#include <sqlite3.h>

namespace eckart::ledger {

TextTable::TextTable(const Database& database, const char* table, const char* column)
    : database_(database), table_(table), column_(column) {}

std::int64_t TextTable::id_of(std::string_view text) const {
  if (text.empty() || text != last_text_) {
    last_id_ = find_or_insert(std::string(text));
    last_text_ = text;
  }
  return last_id_;
}

std::int64_t TextTable::find_or_insert(const std::string& text) const {
  if (const auto cached = ids_.find(text); cached != ids_.end()) return cached->second;
  const Statement insert =
      database_.prepare("INSERT OR IGNORE INTO " + table_ + " (" + column_ + ") VALUES (?1)");
  Statement::Execution(insert).bind(1, text).step();
  const Statement select =
      database_.prepare("SELECT id FROM " + table_ + " WHERE " + column_ + " = ?1");
  Statement::Execution execution(select);
  execution.bind(1, text).step();
  return ids_[text] = execution.integer(0);
}

/// The cache stays valid, because the ID of a text never changes.
const std::string& TextTable::text_of(std::int64_t id) const {
  if (const auto cached = texts_.find(id); cached != texts_.end()) return cached->second;
  const Statement select =
      database_.prepare("SELECT " + column_ + " FROM " + table_ + " WHERE id = ?1");
  Statement::Execution execution(select);
  if (!execution.bind(1, id).step())
    throw DatabaseError{SQLITE_CORRUPT, "a row of " + table_ + " is missing", 0};
  return texts_[id] = execution.bytes(0);
}

std::vector<std::string> TextTable::texts() const {
  const Statement select = database_.prepare("SELECT " + column_ + " FROM " + table_);
  Statement::Execution execution(select);
  std::vector<std::string> texts;
  while (execution.step()) texts.push_back(execution.bytes(0));
  return texts;
}

}  // namespace eckart::ledger
