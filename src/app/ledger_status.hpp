#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// The state of an output folder according to its ledger.
struct LedgerStatus {
  ledger::InputCounts counts;
  std::vector<ledger::FailureEntry> failed;  ///< ordered by path
};

/// The items that the command of the last run would process if it were run again, except failed
/// items.
struct UnfinishedCount {
  std::optional<std::int64_t> images;
  std::string error;  ///< why the inputs could not be counted; empty if they were
};

/// `ledger` is the setting ledger.file. At most `failures` failures are listed. Throws
/// FatalError(no_input) if there is no ledger, as count_unfinished() does.
LedgerStatus read_ledger_status(const std::filesystem::path& output,
                                const settings::FileChoice& ledger, int failures);

/// Lists the inputs of the last run and checks each. A million inputs take several seconds.
UnfinishedCount count_unfinished(const std::filesystem::path& output,
                                 const settings::FileChoice& ledger);

}  // namespace eckart::app
