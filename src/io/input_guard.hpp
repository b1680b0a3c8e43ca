#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace eckart::io {

/// Prevents outputs from replacing inputs. Thread-safe.
class InputGuard {
 public:
  InputGuard() = default;
  /// Throws FatalError(usage) if the output folder is an input folder or is inside one, by real
  /// path. Inputs whose status cannot be read are ignored.
  InputGuard(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& root);

  /// Throws ItemError(output_collision) if `output`, made from `file`, would replace `file` or
  /// another input, or would be inside an input folder. Returns whether a file exists at `output`.
  bool check(const std::filesystem::path& file, const std::filesystem::path& output) const;
  /// As check(), if no file exists at `output`: without a system call.
  void check_free(const std::filesystem::path& output) const;

 private:
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::filesystem::path> folders_;  // input folders inside the output folder
};

}  // namespace eckart::io
