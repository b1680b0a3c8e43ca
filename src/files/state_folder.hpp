#pragma once

namespace eckart {

/// The folder in an output folder where all files are eckart's own: its lock, its ledger.
inline constexpr const char* kStateFolder = ".eckart";

}  // namespace eckart
