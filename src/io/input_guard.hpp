#pragma once

#include <sys/types.h>

#include <filesystem>
#include <set>
#include <utility>
#include <vector>

namespace eckart::io {

/// Keeps outputs from replacing inputs of the command line. Thread-safe.
class InputGuard {
 public:
  InputGuard() = default;
  /// Throws FatalError(usage) if the output folder is one of the inputs or lies in one, by real
  /// path. Inputs that cannot be looked at are passed over.
  InputGuard(const std::vector<std::filesystem::path>& inputs, const std::filesystem::path& root);

  /// Throws ItemError(output_collision) if writing `output` would replace an input, or put a file
  /// into an input folder.
  void check(const std::filesystem::path& output) const;

 private:
  std::set<std::pair<dev_t, ino_t>> files_;
  std::vector<std::filesystem::path> folders_;  // those that lie in the output folder
};

}  // namespace eckart::io
