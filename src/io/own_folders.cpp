#include "io/own_folders.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "io/is_within.hpp"

namespace eckart::io {

OwnFolders::OwnFolders(const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& folder : folders)
    folders_.push_back(std::make_shared<const std::filesystem::path>(folder));
}

const std::filesystem::path* OwnFolders::find(const FileId& directory) const {
  const auto found = std::ranges::find_if(folders_, [&](const Folder& folder) {
    struct stat status {};
    return ::stat(folder->c_str(), &status) == 0 &&
           FileId{status.st_dev, status.st_ino} == directory;
  });
  return found == folders_.end() ? nullptr : found->get();
}

const std::filesystem::path* OwnFolders::find_around(const std::filesystem::path& path) const {
  const RealPath real(path);
  const auto found = std::ranges::find_if(
      folders_, [&](const Folder& folder) { return real.is_within(RealPath(*folder)); });
  return found == folders_.end() ? nullptr : found->get();
}

}  // namespace eckart::io
