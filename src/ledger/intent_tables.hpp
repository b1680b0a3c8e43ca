#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ledger/database.hpp"
#include "ledger/output_rows.hpp"
#include "ledger/rare_rows.hpp"
#include "ledger/records.hpp"

namespace eckart::ledger {

/// The publish intents of an open ledger. Those that are recorded together are one row of the table
/// `intent_group`, which is removed as a whole when all its outputs are recorded as done. The
/// intents of any other group, for example of a killed run, are *split*: moved to the table
/// `publish_intent`, one row for each. Any process may split any group. For one thread at a time.
/// Every function throws DatabaseError.
class IntentTables {
 public:
  /// `database` and `rows` must outlive this object.
  IntentTables(const Database& database, const OutputRows& rows);

  std::optional<OutputEntry> find(const PublishIntent& intent) const;
  /// Of one output.
  std::vector<OutputEntry> find_all(const std::string& output) const;
  /// Sorted by output.
  std::vector<OutputEntry> all() const;

  /// To be called at the beginning of each transaction that changes intents. Splits the groups of
  /// earlier processes.
  void begin_transaction();
  /// `encoded`: of encode_intents().
  void record(std::span<const OutputEntry> intents, std::string_view encoded, std::int64_t run);
  /// Removes all intents of these outputs.
  void remove(std::span<const OutputEntry> outputs);
  void remove(const PublishIntent& intent);
  /// To be called if a transaction is rolled back.
  void forget_groups();

 private:
  using GroupId = std::int64_t;
  std::vector<GroupId> groups() const;
  std::vector<OutputEntry> read_group(GroupId group) const;
  void split(GroupId group);

  const Database& database_;
  const OutputRows& rows_;
  Statement find_rows_, select_rows_, select_ids_, select_group_;
  Statement insert_group_, remove_group_, insert_row_, remove_row_;
  RareRows rows_of_outputs_;
  // The groups that this object has recorded.
  std::unordered_map<std::string, GroupId> group_of_output_;
  std::unordered_map<GroupId, std::size_t> group_sizes_;
  bool has_split_others_ = false;  // groups that were there when this object was made
};

}  // namespace eckart::ledger
