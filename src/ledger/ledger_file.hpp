#pragma once

#include <chrono>
#include <filesystem>

namespace eckart::ledger {

/// A ledger's path, and what follows from it. The path may be a link: then the path and its target
/// both decide, because a ledger in a state folder may be a link to a faster disk.
struct LedgerLocation {
  LedgerLocation(const std::filesystem::path& path);

  std::filesystem::path file;  ///< to open and rename: the target of a link
  bool is_own = false;         ///< in the state folder of an output folder
  /// The absolute folder that the names of outputs in this ledger are relative to: the folder whose
  /// state folder it is in, else "/".
  std::filesystem::path output_root = "/";
};

/// To call before SQLite may change the file, or make others beside it. A damaged file is accepted
/// only if it is ours: in a state folder, or with a ledger's header. Throws NotALedger,
/// NewerSchema. `timeout` as in Database.
void check_ledger_file(const LedgerLocation& location, std::chrono::milliseconds timeout);

}  // namespace eckart::ledger
