#pragma once

#include <string>
#include <vector>

#include "ledger/records.hpp"
#include "ledger/report_text.hpp"

namespace eckart::ledger {

/// Changes with their values as they are stored, so that they are made while other threads use the
/// database.
struct PreparedChanges {
  explicit PreparedChanges(const LedgerChanges& changes);

  const LedgerChanges& changes;  ///< must outlive this object
  std::string intents;           ///< encode_intents() of all intents
  /// Of each output that is done. A report that cannot be split has no keys.
  std::vector<SplitReport> reports;
};

}  // namespace eckart::ledger
