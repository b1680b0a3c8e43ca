#pragma once

#include <deque>
#include <string>
#include <vector>

#include "ledger/records.hpp"
#include "ledger/report_text.hpp"

namespace eckart::ledger {

/// Changes with their values as they are stored, so that they are made while other threads use the
/// database.
class PreparedChanges {
 public:
  explicit PreparedChanges(const LedgerChanges& changes);
  PreparedChanges(const PreparedChanges&) = delete;  // `reports` refers to it

  const LedgerChanges& changes;  ///< must outlive this object
  std::string intents;           ///< encode_intents() of all intents
  /// Of each output that is done. A report that cannot be split has no keys.
  std::vector<SplitReportView> reports;

 private:
  std::deque<SplitReport> split_;  // reports that came as one text
};

}  // namespace eckart::ledger
