#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// What the ledger knows of an output folder.
struct LedgerStatus {
  ledger::InputCounts counts;
  std::vector<ledger::FailureEntry> failed;  ///< by path
};

/// What the last run's command would do if it were given again, but for what has failed.
struct PendingCount {
  std::optional<std::int64_t> images;
  std::string error;  ///< where they are
};

/// `ledger`: the setting ledger.file. The first `failures` that failed are named. Throws
/// FatalError(no_input) where there is no ledger, as the next does.
LedgerStatus read_ledger_status(const std::filesystem::path& output,
                                const settings::FileChoice& ledger, int failures);

/// Lists the inputs of the last run and looks at each: seconds for a million.
PendingCount count_pending(const std::filesystem::path& output, const settings::FileChoice& ledger);

}  // namespace eckart::app
