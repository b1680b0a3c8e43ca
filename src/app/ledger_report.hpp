#pragma once

#include <filesystem>

#include "reports/image_report.hpp"
#include "settings/choices.hpp"

namespace eckart::app {

/// Adds a record for each output in the ledger of a folder, with the result `done`, and for each
/// failed input. `ledger` is the setting ledger.file. Throws FatalError(no_input) if there is no
/// ledger.
void add_ledger_records(reports::ImageReport& report, const std::filesystem::path& output,
                        const settings::FileChoice& ledger);

}  // namespace eckart::app
