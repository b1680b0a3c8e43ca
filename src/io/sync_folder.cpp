#include "io/sync_folder.hpp"

#include <fcntl.h>

#include <cerrno>
#include <cstddef>
#include <mutex>
#include <string>
#include <system_error>
#include <unordered_set>
#include <vector>

#include "core/error.hpp"
#include "io/descriptor.hpp"

namespace eckart::io {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostKnownFolders = 10000;  // a service may write to any number

fs::path folder_of(const fs::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// Brings a folder's entries to the disk. That the folder may not be read, or is gone, is no matter
/// of what was published.
void sync_folder(const fs::path& folder) {
  const auto check = [&](bool good) {
    if (good || errno == EACCES || errno == ENOENT) return;
    // No waiting for space mends this: the files are at their places already.
    throw EnvironmentError("cannot sync " + folder.string() + ": " +
                           std::generic_category().message(errno));
  };
  const Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  check(bool(descriptor));
  if (descriptor) check(bring_to_disk(descriptor));
}

}  // namespace

void sync_with_those_around(const fs::path& folder) {
  static std::mutex mutex;
  static std::unordered_set<std::string> known;  // paths take ten times as much
  sync_folder(folder);
  std::vector<fs::path> around;
  {
    const std::lock_guard lock(mutex);
    for (fs::path path = folder; !known.contains(path.native()) && path != folder_of(path);
         path = folder_of(path))
      around.push_back(folder_of(path));  // which has an entry that may be new
  }
  for (const fs::path& path : around) sync_folder(path);
  const std::lock_guard lock(mutex);
  if (known.size() >= kMostKnownFolders) known.clear();  // and each is looked around once more
  known.insert(folder.native());
  for (const fs::path& path : around) known.insert(path.native());
}

}  // namespace eckart::io
