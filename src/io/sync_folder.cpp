#include "io/sync_folder.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "core/error.hpp"
#include "files/file_descriptor.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Folders that were synced with all their ancestors.
class SyncedFolders {
 public:
  bool contains(const fs::path& folder) const {
    const std::lock_guard lock(mutex_);
    return synced_.contains(folder.native());
  }
  /// Increases with each remove().
  std::uint64_t generation() const {
    const std::lock_guard lock(mutex_);
    return generation_;
  }
  /// Adds nothing if a folder was created after `generation`, because it may be this one.
  void add(const fs::path& folder, std::uint64_t generation) {
    // A service may write to any number of folders.
    constexpr std::size_t kMaxFolders = 10000;
    const std::lock_guard lock(mutex_);
    if (generation != generation_) return;
    if (synced_.size() >= kMaxFolders) synced_.clear();  // each is then synced once more
    synced_.insert(folder.native());
  }
  void remove(const fs::path& folder) {
    const std::lock_guard lock(mutex_);
    ++generation_;
    synced_.erase(folder.native());
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> synced_;  // paths would use ten times the memory
  std::uint64_t generation_ = 0;
};

SyncedFolders& synced_folders() {
  static SyncedFolders folders;
  return folders;
}

/// A folder that cannot be read or no longer exists is not an error: the files are published.
void sync(const files::FileDescriptor& folder, const fs::path& path) {
  if (folder && files::sync_descriptor(folder)) return;
  if (errno == EACCES || errno == ENOENT) return;
  // Not out_of_space: the files are at their paths already, so free space does not help.
  throw EnvironmentError("cannot sync " + path.string() + ": " +
                         std::generic_category().message(errno));
}

void sync_folder(const fs::path& folder) {
  sync(files::FileDescriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), folder);
}

DirectoryPtr open_parent(const Directory& directory) {
  return Directory::adopt(files::FileDescriptor(
      ::openat(directory.descriptor(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

}  // namespace

fs::path parent_folder(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

void make_folders(const fs::path& folder) {
  std::vector<fs::path> missing;
  std::error_code unknown;
  for (fs::path path = folder; path != parent_folder(path) && !fs::exists(path, unknown);
       path = parent_folder(path))
    missing.push_back(path);
  fs::create_directories(folder);
  for (const fs::path& path : missing) forget_synced_folder(path);
}

void forget_synced_folder(const fs::path& folder) { synced_folders().remove(folder); }

void sync_folder_and_ancestors(const fs::path& folder) {
  const std::uint64_t generation = synced_folders().generation();
  sync_folder(folder);
  std::vector<fs::path> ancestors;
  for (fs::path path = folder; !synced_folders().contains(path) && path != parent_folder(path);
       path = parent_folder(path))
    ancestors.push_back(parent_folder(path));  // which may have a new entry
  for (const fs::path& path : ancestors) sync_folder(path);
  synced_folders().add(folder, generation);
  for (const fs::path& path : ancestors) synced_folders().add(path, generation);
}

void sync_directory(const Directory& directory, const fs::path& path) {
  sync(directory.open_for_reading(), path);
}

void sync_ancestors(const Directory& directory, const fs::path& path) {
  if (synced_folders().contains(path)) return;
  const std::uint64_t generation = synced_folders().generation();
  FileId previous = directory.id();
  for (DirectoryPtr ancestor = open_parent(directory); ancestor && ancestor->id() != previous;
       ancestor = open_parent(*ancestor)) {
    sync_directory(*ancestor, path);
    previous = ancestor->id();
  }
  synced_folders().add(path, generation);
}

}  // namespace eckart::io
