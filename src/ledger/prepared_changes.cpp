#include "ledger/prepared_changes.hpp"

#include <utility>

#include "ledger/intent_list.hpp"

namespace eckart::ledger {

PreparedChanges::PreparedChanges(const LedgerChanges& record)
    : changes(record), intents(encode_intents(record.intents)) {
  reports.reserve(changes.done.size());
  for (const OutputEntry& entry : changes.done) {
    if (!entry.report_keys.empty()) {
      reports.push_back({entry.report_keys, entry.report});
    } else if (auto split = split_report(entry.report)) {
      const SplitReport& report = split_.emplace_back(std::move(*split));
      reports.push_back({report.keys, report.values});
    } else {
      reports.push_back({{}, entry.report});
    }
  }
}

}  // namespace eckart::ledger
