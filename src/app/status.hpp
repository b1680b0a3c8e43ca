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
};

/// What the last run's command would do if it were given again, but for what has failed.
struct Pending {
  std::optional<std::int64_t> images;
  std::string why_unknown;  ///< where they are
};

/// `ledger`: as the setting has it. The first `failures` that failed are named. Throws
/// FatalError(no_input) where there is no ledger, as the next does.
Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures);

/// Lists the inputs of the last run and looks at each: seconds for a million.
Pending count_pending(const std::filesystem::path& output, const std::string& ledger);

}  // namespace eckart::app
