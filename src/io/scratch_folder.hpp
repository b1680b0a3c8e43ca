#pragma once

#include <filesystem>
#include <string>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// An empty temporary folder of this process. The destructor removes it and its files; if the
/// process is killed, the next one of this host that makes a folder with this prefix beside it
/// does.
class ScratchFolder {
 public:
  /// Makes a folder PREFIX-HOST-XXXXXX in `parent`, which is made if missing; in the temporary
  /// folder of the system if `parent` is empty. Throws FatalError or EnvironmentError if it cannot
  /// be made.
  ScratchFolder(const std::filesystem::path& parent, const std::string& prefix);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  /// Absolute.
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  files::FileDescriptor lock_;
};

}  // namespace eckart::io
