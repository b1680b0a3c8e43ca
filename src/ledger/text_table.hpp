#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/database.hpp"

namespace eckart::ledger {

/// A table of texts with IDs, to which rows of other tables refer, and which is kept in memory. For
/// one thread at a time. Every function throws DatabaseError.
class TextTable {
 public:
  /// `database` must outlive this object. The table has the columns `id` and `column`.
  TextTable(const Database& database, const char* table, const char* column);

  /// The ID of a text, which is inserted if it is missing.
  std::int64_t id_of(std::string_view text) const;
  const std::string& text_of(std::int64_t id) const;
  std::vector<std::string> texts() const;
  /// To be called if a transaction is rolled back: it may have inserted some of the texts.
  void forget_ids() {
    ids_.clear();
    last_text_.clear();
  }

 private:
  std::int64_t find_or_insert(const std::string& text) const;

  const Database& database_;
  const std::string table_, column_;
  // Caches, by ID and by text.
  mutable std::unordered_map<std::int64_t, std::string> texts_;
  mutable std::unordered_map<std::string, std::int64_t> ids_;
  // The last result of id_of(). Most rows have the same texts.
  mutable std::string last_text_;
  mutable std::int64_t last_id_ = 0;
};

}  // namespace eckart::ledger
