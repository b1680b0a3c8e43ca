#pragma once

#include <filesystem>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace eckart::app {

struct QuarantineEntry {
  std::filesystem::path record_file;
  std::filesystem::path path;                  ///< of the file; missing if the input was kept
  std::optional<std::filesystem::path> input;  ///< where it came from, if its record is readable
  std::filesystem::path root;                  ///< the watched folder of `input`; may be empty
};

/// All inputs in a quarantine, the oldest first. `folder`: as io::quarantine_folder() gives it.
std::vector<QuarantineEntry> list_quarantine(const std::filesystem::path& folder);

/// The absolute paths from which the files in the quarantine of this output folder came. Inputs
/// that were kept in place are not among them.
std::set<std::string> quarantined_inputs(const std::filesystem::path& output);

}  // namespace eckart::app
