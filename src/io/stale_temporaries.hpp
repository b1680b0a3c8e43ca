#pragma once

#include <filesystem>
#include <string>
#include <unordered_set>

namespace eckart::io {

/// Removes what runs that were killed have left in the folders of an output folder. For whoever has
/// its FolderLock: all temporaries there that are not this process's are nobody's then.
class StaleTemporaries {
 public:
  /// Removes them from the root, too.
  explicit StaleTemporaries(const std::filesystem::path& root);
  /// From the folder of an output, which is named as the root is; looks into each once. Output
  /// folders within this one are left alone, since others may have their locks; and all while a run
  /// writes to one around this. What cannot be removed stays.
  void remove_in(const std::filesystem::path& folder);

 private:
  bool is_in_another_output_folder(std::filesystem::path folder) const;
  bool is_ancestor_locked() const;

  const std::filesystem::path root_;
  std::unordered_set<std::string> cleaned_;
};

}  // namespace eckart::io
