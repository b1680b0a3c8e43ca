#include "ledger/intent_tables.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "ledger/intent_list.hpp"
#include "ledger/schema.hpp"

namespace eckart::ledger {
IntentTables::IntentTables(const Database& database, const OutputRows& rows)
    : database_(database),
      rows_(rows),
      find_rows_(database.prepare(OutputRows::select_from("publish_intent", "output = ?1"))),
      select_rows_(database.prepare(OutputRows::select_from("publish_intent", "true"))),
      select_ids_(database.prepare("SELECT id FROM intent_group ORDER BY id")),
      select_group_(database.prepare("SELECT run, intents FROM intent_group WHERE id = ?1")),
      insert_group_(database.prepare("INSERT INTO intent_group (run, intents) VALUES (?1, ?2)")),
      remove_group_(database.prepare("DELETE FROM intent_group WHERE id = ?1")),
      insert_row_(database.prepare(OutputRows::insert_into("publish_intent"))),
      remove_row_(database.prepare(
          "DELETE FROM publish_intent WHERE output = ?1 AND bytes = ?2 AND output_mtime_ns = ?3")),
      rows_of_outputs_(database, "publish_intent", "output") {}

std::vector<IntentTables::GroupId> IntentTables::groups() const {
  std::vector<GroupId> ids;
  for (Statement::Execution row(select_ids_); row.step();) ids.push_back(row.integer(0));
  return ids;
}

/// Empty if another process has removed or split the group.
std::vector<OutputEntry> IntentTables::read_group(GroupId group) const {
  Statement::Execution row(select_group_);
  if (!row.bind(1, group).step()) return {};
  return decode_intents(row.bytes(1), row.integer(0));
}

std::optional<OutputEntry> IntentTables::find(const PublishIntent& intent) const {
  std::optional<OutputEntry> of_unknown_size;
  for (OutputEntry& found : find_all(intent.output)) {
    if (found.output_mtime_ns != intent.output_mtime_ns) continue;
    if (found.bytes == intent.bytes) return std::move(found);
    if (found.bytes == kUnknownBytes) of_unknown_size = std::move(found);
  }
  if (of_unknown_size) of_unknown_size->bytes = intent.bytes;
  return of_unknown_size;
}

std::vector<OutputEntry> IntentTables::find_all(const std::string& output) const {
  std::vector<OutputEntry> intents;
  {
    Statement::Execution execution(find_rows_);
    execution.bind(1, output);
    while (execution.step()) intents.push_back(rows_.read(execution));
  }
  const auto own = group_of_output_.find(output);
  for (const GroupId group : groups()) {
    if (group_sizes_.contains(group) && (own == group_of_output_.end() || own->second != group))
      continue;
    for (OutputEntry& intent : read_group(group))
      if (intent.output == output) intents.push_back(std::move(intent));
  }
  return intents;
}

std::vector<OutputEntry> IntentTables::all() const {
  std::vector<OutputEntry> intents;
  for (Statement::Execution row(select_rows_); row.step();) intents.push_back(rows_.read(row));
  for (const GroupId group : groups())
    std::ranges::move(read_group(group), std::back_inserter(intents));
  std::ranges::stable_sort(intents, std::less(), &OutputEntry::output);
  return intents;
}

void IntentTables::begin_transaction() {
  rows_of_outputs_.begin_transaction();
  if (has_split_others_) return;
  for (const GroupId group : groups()) split(group);
  has_split_others_ = true;
}

/// If an output already has an intent, its record as done has failed. Its group is split, so that
/// an output is in one group of this object at most.
void IntentTables::record(std::span<const OutputEntry> intents, std::string_view encoded,
                          std::int64_t run) {
  if (intents.empty()) return;
  for (const OutputEntry& intent : intents) {
    const auto earlier = group_of_output_.find(intent.output);
    if (earlier != group_of_output_.end()) split(earlier->second);
  }
  Statement::Execution(insert_group_).bind(1, run).bind(2, encoded).step();
  const GroupId group = database_.last_inserted_id();
  group_sizes_[group] = intents.size();
  for (const OutputEntry& intent : intents) group_of_output_[intent.output] = group;
}

void IntentTables::remove(std::span<const OutputEntry> outputs) {
  std::unordered_map<GroupId, std::size_t> done;
  for (const OutputEntry& entry : outputs) {
    const auto found = group_of_output_.find(entry.output);
    if (found == group_of_output_.end()) continue;
    ++done[found->second];
    group_of_output_.erase(found);
  }
  for (const auto& [group, size] : done) {
    if (size != group_sizes_[group]) {
      split(group);
      continue;
    }
    Statement::Execution(remove_group_).bind(1, group).step();
    group_sizes_.erase(group);
  }
  for (const OutputEntry& entry : outputs) rows_of_outputs_.remove(entry.output);
}

void IntentTables::remove(const PublishIntent& intent) {
  if (const auto found = group_of_output_.find(intent.output); found != group_of_output_.end())
    split(found->second);
  Statement::Execution execution(remove_row_);
  execution.bind(1, intent.output).bind(2, intent.bytes).bind(3, intent.output_mtime_ns).step();
}

void IntentTables::split(GroupId group) {
  for (const OutputEntry& intent : read_group(group)) {
    rows_.insert(insert_row_, intent, {}, intent.run);
    group_of_output_.erase(intent.output);
  }
  rows_of_outputs_.add();
  Statement::Execution(remove_group_).bind(1, group).step();
  group_sizes_.erase(group);
}

/// All groups in the file are then split.
void IntentTables::forget_groups() {
  group_of_output_.clear();
  group_sizes_.clear();
  has_split_others_ = false;
}

}  // namespace eckart::ledger
