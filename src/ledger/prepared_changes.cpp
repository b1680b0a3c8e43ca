#include "ledger/prepared_changes.hpp"

#include <utility>

#include "ledger/intent_list.hpp"

namespace eckart::ledger {

PreparedChanges::PreparedChanges(const LedgerChanges& record)
    : changes(record), intents(encode_intents(record.intents)) {
  reports.reserve(changes.done.size());
  for (const OutputEntry& entry : changes.done) {
    auto split = split_report(entry.report);
    reports.push_back(split ? std::move(*split) : SplitReport{{}, entry.report});
  }
}

}  // namespace eckart::ledger
