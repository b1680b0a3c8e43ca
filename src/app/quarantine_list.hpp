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
  std::optional<std::filesystem::path> input;  ///< original path, if its record is readable
  std::filesystem::path root;                  ///< the watched folder of `input`; may be empty
  std::filesystem::path real_root;             ///< the same without links; may be empty
};

/// Lists all inputs in a quarantine, the oldest first. `folder` is the result of
/// io::quarantine_folder().
std::vector<QuarantineEntry> list_quarantine(const std::filesystem::path& folder);

/// Returns the absolute original paths of the files in the quarantine of this output folder, except
/// of inputs that were kept in place.
std::set<std::string> quarantined_inputs(const std::filesystem::path& output);

}  // namespace eckart::app
