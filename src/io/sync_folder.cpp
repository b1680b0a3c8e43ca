#include "io/sync_folder.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "core/descriptor.hpp"
#include "core/error.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

/// Folders whose entries, and those of all around, were brought to the disk.
class KnownFolders {
 public:
  bool has(const fs::path& folder) const {
    const std::lock_guard lock(mutex_);
    return known_.contains(folder.native());
  }
  void add(const fs::path& folder) {
    constexpr std::size_t kMost = 10000;  // a service may write to any number
    const std::lock_guard lock(mutex_);
    if (known_.size() >= kMost) known_.clear();  // and each is looked around once more
    known_.insert(folder.native());
  }

 private:
  mutable std::mutex mutex_;
  std::unordered_set<std::string> known_;  // paths take ten times as much
};

KnownFolders& known_folders() {
  static KnownFolders known;
  return known;
}

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// That the folder may not be read, or is gone, is no matter of what was published.
void sync(const Descriptor& folder, const fs::path& path) {
  if (folder && bring_to_disk(folder)) return;
  if (errno == EACCES || errno == ENOENT) return;
  // No waiting for space mends this: the files are at their places already.
  throw EnvironmentError("cannot sync " + path.string() + ": " +
                         std::generic_category().message(errno));
}

void sync_folder(const fs::path& folder) {
  sync(Descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)), folder);
}

DirectoryPtr open_around(const Directory& directory) {
  return Directory::adopt(
      Descriptor(::openat(directory.descriptor(), "..", O_PATH | O_DIRECTORY | O_CLOEXEC)));
}

}  // namespace

void sync_with_those_around(const fs::path& folder) {
  sync_folder(folder);
  std::vector<fs::path> around;
  for (fs::path path = folder; !known_folders().has(path) && path != folder_of(path);
       path = folder_of(path))
    around.push_back(folder_of(path));  // which has an entry that may be new
  for (const fs::path& path : around) sync_folder(path);
  known_folders().add(folder);
  for (const fs::path& path : around) known_folders().add(path);
}

void sync_directory(const Directory& directory, const fs::path& path) {
  sync(directory.open_for_reading(), path);
}

void sync_those_around(const Directory& directory, const fs::path& path) {
  if (known_folders().has(path)) return;
  FileId below = directory.id();
  for (DirectoryPtr around = open_around(directory); around && around->id() != below;
       around = open_around(*around)) {
    sync_directory(*around, path);
    below = around->id();
  }
  known_folders().add(path);
}

}  // namespace eckart::io
