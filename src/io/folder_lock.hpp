#pragma once

#include <filesystem>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// Keeps a second process from writing to the same output folder: an advisory lock on a file, which
/// the system releases when the process ends, in whatever way.
class FolderLock {
 public:
  /// Makes the file, ROOT/.eckart/lock, and its folders if they are missing. Throws FatalError:
  /// temporary where another process has the lock, by its number; cannot_create, no_permission.
  /// EnvironmentError where the disk is full or broken.
  explicit FolderLock(const std::filesystem::path& root);
  /// False on a file system that knows no locks: then nobody is kept out.
  bool holds() const { return is_held_; }
  /// False where its folder was moved, or removed, and what is written now would go to another.
  bool is_in_place() const;
  /// Throws EnvironmentError where it is not.
  void check_not_replaced() const;

 private:
  const std::filesystem::path root_, file_;
  FileDescriptor descriptor_;
  bool is_held_ = false;
};

/// Whether a process, this one or another, has the FolderLock of this folder.
bool is_locked(const std::filesystem::path& root);

}  // namespace eckart::io
