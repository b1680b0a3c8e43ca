#pragma once

#include <chrono>
#include <filesystem>

namespace eckart::ledger {

/// The path of a ledger and what is derived from it. If the path is a link, both the path and its
/// target count, because a ledger in a state folder may be a link to a faster disk.
struct LedgerLocation {
  LedgerLocation(const std::filesystem::path& path);

  std::filesystem::path file;  ///< the path to open and rename: the target of a link
  /// The absolute folder that output names in this ledger are relative to: the folder that contains
  /// the state folder, otherwise "/".
  std::filesystem::path output_root = "/";
};

/// Checks the file before SQLite may change it or create files beside it. A damaged file is
/// accepted only if it is itself in a state folder, or has the header of a ledger. Throws
/// NotALedger, NewerSchema. `timeout` as in Database.
void check_ledger_file(const LedgerLocation& location, std::chrono::milliseconds timeout);

}  // namespace eckart::ledger
