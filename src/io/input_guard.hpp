#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace eckart::io {

/// Keeps outputs from replacing inputs. Thread-safe.
class InputGuard {
 public:
  InputGuard() = default;
  /// Throws FatalError(usage) if the output folder is one of the inputs or lies in one, by real
  /// path. Inputs that cannot be looked at are passed over.
  InputGuard(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& root);

  /// Throws ItemError(output_collision) if writing `output`, a result of `file`, would replace that
  /// file or another of the command line, or would put a file into a folder of the command line.
  void check(const std::filesystem::path& file, const std::filesystem::path& output) const;

 private:
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::filesystem::path> folders_;  // those that lie in the output folder
};

}  // namespace eckart::io
