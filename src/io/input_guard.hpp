#pragma once

#include <sys/types.h>

#include <filesystem>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/instant.hpp"

namespace eckart::io {

/// Prevents outputs from replacing inputs. Thread-safe.
class InputGuard {
 public:
  InputGuard() = default;
  /// Throws FatalError(usage) if the output folder is an input folder or is inside one, by whatever
  /// links and mounts. Inputs whose status cannot be read are ignored. `has_unknown_inputs`: there
  /// may be further inputs anywhere, and existing files are replaced.
  InputGuard(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& root,
             bool has_unknown_inputs = false);

  /// Throws ItemError(output_collision) if `output`, made from `file`, would replace `file` or
  /// another input, or would be inside an input folder, by whatever links and mounts. Returns
  /// whether a file exists at `output`.
  bool check(const std::filesystem::path& file, const std::filesystem::path& output) const;
  /// As check(), if no file exists at `output`. Accesses the file system once a second for each
  /// folder.
  void check_free(const std::filesystem::path& output) const;

 private:
  struct Checked {
    Instant at;
    std::string problem;  // empty if there is none
  };
  std::string find_problem(const std::filesystem::path& folder) const;
  std::string problem_of(const std::filesystem::path& folder) const;

  std::set<std::pair<dev_t, ino_t>> files_;
  // Input folders, each resolved once: there may be thousands.
  std::unordered_map<std::string, std::filesystem::path> folders_by_real_path_, folders_by_place_;
  std::filesystem::path root_;  // of the outputs, if there are unknown inputs; otherwise empty
  mutable std::mutex mutex_;
  mutable std::unordered_map<std::string, Checked> checked_;  // folders of outputs
};

}  // namespace eckart::io
