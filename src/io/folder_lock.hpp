#pragma once

#include <filesystem>

#include "files/file_descriptor.hpp"

namespace eckart::io {

/// Excludes other processes from an output folder with an flock on a file. The kernel releases the
/// lock when the process ends, even if it is killed.
class FolderLock {
 public:
  enum class Mode {
    exclusive,  ///< excludes all other processes
    shared,     ///< excludes those with an exclusive lock only
  };
  /// Locks ROOT/.eckart/lock, and creates the file and its folders if missing. Throws FatalError:
  /// temporary if another process holds the lock (the message has its process ID), cannot_create,
  /// or no_permission. Throws EnvironmentError if the disk is full or broken.
  explicit FolderLock(const std::filesystem::path& root, Mode mode = Mode::exclusive);
  /// False if the file system does not support locks. Then other processes are not excluded.
  bool is_held() const { return is_held_; }
  /// False if the folder was moved or removed. Then new files would go to another folder.
  bool is_in_place() const;
  /// Throws EnvironmentError unless is_in_place().
  void check_not_replaced() const;

 private:
  const std::filesystem::path root_, file_;
  files::FileDescriptor descriptor_;
  bool is_held_ = false;
};

/// Whether a process, this one or another, holds the exclusive FolderLock of this folder.
bool is_locked(const std::filesystem::path& root);

}  // namespace eckart::io
