#pragma once

#include <filesystem>

#include "settings/settings.hpp"

namespace eckart::app {

/// Returns the path of the ledger of a run into this folder; empty if there is none. Throws
/// FatalError(usage) if the ledger is another folder's own ledger, because its output names are
/// relative to that folder.
std::filesystem::path ledger_file(const std::filesystem::path& output,
                                  const settings::FileChoice& choice);

/// Returns whether the ledger is the folder's own ledger, even if `choice` gives its path. A
/// folder's own ledger stores outputs relative to the folder.
bool is_own_ledger(const std::filesystem::path& output, const settings::FileChoice& choice);

}  // namespace eckart::app
