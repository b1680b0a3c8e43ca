#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "ledger/ledger.hpp"

namespace eckart::app {

/// What the ledger knows of an output folder.
struct Status {
  ledger::Counts counts;
  std::vector<ledger::Entry> failed;  ///< by output
};

/// `ledger`: as the setting has it. The first `failures` that failed are named. Throws
/// FatalError(no_input) where there is no ledger.
Status read_status(const std::filesystem::path& output, const std::string& ledger, int failures);

}  // namespace eckart::app
