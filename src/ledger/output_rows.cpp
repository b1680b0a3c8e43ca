#include "ledger/output_rows.hpp"

#include <sqlite3.h>

#include <string_view>
#include <utility>

namespace eckart::ledger {
namespace {

// The columns in the order of insert() and read().
const std::string kColumns =
    "output, root, input, settings, part, size, mtime_ns, inode, bytes, output_mtime_ns, run, "
    "content, report, report_keys";

}  // namespace

std::string OutputRows::insert_into(const char* table) {
  return std::string("INSERT OR REPLACE INTO ") + table + " (" + kColumns +
         ") VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)";
}

std::string OutputRows::select_from(const char* table, const char* condition) {
  return "SELECT " + kColumns + " FROM " + table + " WHERE " + condition;
}

void OutputRows::insert(const Statement& insert, const OutputEntry& entry,
                        const SplitReportView& report, std::int64_t run) const {
  Statement::Execution execution(insert);
  execution.bind(1, entry.output).bind(2, roots_.id_of(root_of(entry)));
  execution.bind(3, std::string_view(entry.input).substr(entry.root_length));
  execution.bind(4, std::int64_t(entry.settings)).bind(5, entry.output_index);
  execution.bind(6, entry.state.size).bind(7, entry.state.mtime_ns).bind(8, entry.state.inode);
  execution.bind(9, entry.bytes).bind(10, entry.output_mtime_ns).bind(11, run);
  if (!entry.content_hash.empty()) execution.bind(12, entry.content_hash);
  if (!report.values.empty()) execution.bind(13, report.values);
  if (!report.keys.empty()) execution.bind(14, report_keys_.id_of(report.keys));
  execution.step();
}

OutputEntry OutputRows::read(const Statement::Execution& row) const {
  const std::string& root = roots_.text_of(row.integer(1));
  OutputEntry entry{.output = row.bytes(0),
                    .input = root + row.bytes(2),
                    .settings = std::uint64_t(row.integer(3)),
                    .output_index = int(row.integer(4)),
                    .state = {row.integer(5), row.integer(6), row.integer(7)},
                    .bytes = row.integer(8),
                    .run = row.integer(10),
                    .root_length = root.size(),
                    .output_mtime_ns = row.integer(9),
                    .content_hash = row.bytes(11),
                    .report = row.bytes(12)};
  if (row.is_null(13)) return entry;
  auto report = join_report(report_keys_.text_of(row.integer(13)), entry.report);
  if (!report) throw DatabaseError{SQLITE_CORRUPT, "a report is damaged", 0};
  entry.report = std::move(*report);
  return entry;
}

void OutputRows::forget_ids() {
  roots_.forget_ids();
  report_keys_.forget_ids();
}

std::string_view root_of(const OutputEntry& entry) {
  return std::string_view(entry.input).substr(0, entry.root_length);
}

}  // namespace eckart::ledger
