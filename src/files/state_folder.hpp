#pragma once

namespace eckart::files {

/// The folder in an output folder for the files of eckart, such as its ledger and the quarantine.
inline constexpr const char* kStateFolder = ".eckart";

}  // namespace eckart::files
