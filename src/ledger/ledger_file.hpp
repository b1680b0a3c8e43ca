#pragma once

#include <chrono>
#include <filesystem>

namespace eckart::ledger {

/// To call before SQLite may change the file, or make others beside it. What is damaged is let pass
/// only where the file is ours: in an output folder's state folder, or with a ledger's header.
/// Throws NotALedger, NewerSchema. `timeout` as in Database.
void check_ledger_file(const std::filesystem::path& file, std::chrono::milliseconds timeout);

/// The absolute folder that the names of outputs in this ledger are relative to: the folder whose
/// state folder it is in, else "/".
std::filesystem::path output_root(const std::filesystem::path& file);

}  // namespace eckart::ledger
