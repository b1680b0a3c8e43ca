#pragma once

namespace eckart::files {

/// The folder in an output folder for the files of eckart: its lock and its ledger.
inline constexpr const char* kStateFolder = ".eckart";

}  // namespace eckart::files
