#pragma once

#include <filesystem>

namespace eckart::cli {

/// An empty temporary folder. The destructor removes it and its files.
class ScratchFolder {
 public:
  /// Makes the folder in `parent`, which is made if missing; in the temporary folder of the system
  /// if `parent` is empty. Throws FatalError or EnvironmentError if it cannot be made.
  explicit ScratchFolder(const std::filesystem::path& parent);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  /// Absolute.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace eckart::cli
