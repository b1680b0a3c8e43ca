#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"

namespace eckart::app {

/// What the ledger knows of an output folder.
struct Status {
  ledger::Counts counts;
  std::vector<ledger::Failure> failed;  ///< by path
  /// Images that the last run's command, given again, would do, but for those that have failed.
  std::optional<std::int64_t> pending;
  std::string why_unknown;  ///< where `pending` is
};

/// `ledger`: as the setting has it. The first `failures` that failed are named. Lists the inputs of
/// the last run. Throws FatalError(no_input) where there is no ledger.
Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures);

}  // namespace eckart::app
