#include "io/own_folders.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "io/is_within.hpp"

namespace eckart::io {

const std::filesystem::path* OwnFolders::find(const FileId& directory) const {
  const auto found = std::ranges::find_if(folders_, [&](const std::filesystem::path& folder) {
    struct stat status {};
    return ::stat(folder.c_str(), &status) == 0 &&
           FileId{status.st_dev, status.st_ino} == directory;
  });
  return found == folders_.end() ? nullptr : &*found;
}

const std::filesystem::path* OwnFolders::find_around(const std::filesystem::path& path) const {
  const auto found = std::ranges::find_if(
      folders_, [&](const std::filesystem::path& folder) { return is_within(path, folder); });
  return found == folders_.end() ? nullptr : &*found;
}

}  // namespace eckart::io
