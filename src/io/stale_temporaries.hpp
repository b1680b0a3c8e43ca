#pragma once

#include <filesystem>
#include <string>
#include <unordered_set>

namespace eckart::io {

/// Removes temporary files that killed runs left in the folders of an output folder. The caller
/// must hold its FolderLock. Then temporary files of other processes belong to no running process.
class StaleTemporaries {
 public:
  /// Cleans the root itself.
  explicit StaleTemporaries(const std::filesystem::path& root);
  /// Cleans the folder of an output, once per folder. `output` must start with the root path. Does
  /// nothing in an output folder within this one, because another process may hold its lock. Does
  /// nothing while a process holds the lock of a parent folder. Files that cannot be removed stay.
  void remove_beside(const std::filesystem::path& output);

 private:
  void remove_in(const std::filesystem::path& folder);
  bool is_in_another_output_folder(std::filesystem::path folder) const;
  bool is_ancestor_locked() const;

  const std::filesystem::path root_;
  std::unordered_set<std::string> cleaned_;
  std::string last_;  // of these, with a slash at its end
};

}  // namespace eckart::io
