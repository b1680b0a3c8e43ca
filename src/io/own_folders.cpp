#include "io/own_folders.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <optional>

#include "files/file_descriptor.hpp"
#include "io/is_within.hpp"
#include "io/physical_path.hpp"

namespace eckart::io {
namespace {

files::FileDescriptor open_folder(const std::filesystem::path& folder) {
  return files::FileDescriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

bool is_same(const std::filesystem::path& folder, const FileId& directory) {
  struct stat status {};
  return ::stat(folder.c_str(), &status) == 0 && FileId{status.st_dev, status.st_ino} == directory;
}

}  // namespace

OwnFolders::OwnFolders(const std::vector<std::filesystem::path>& folders) {
  for (const std::filesystem::path& folder : folders)
    folders_.push_back(std::make_shared<const std::filesystem::path>(folder));
}

const std::filesystem::path* OwnFolders::find(const Directory& directory,
                                              const std::filesystem::path& path) const {
  if (folders_.empty()) return nullptr;
  const std::optional<PhysicalPath> inner = physical_path(directory.descriptor());
  const std::optional<RealPath> real = inner ? std::nullopt : std::optional(RealPath(path));
  const auto found = std::ranges::find_if(folders_, [&](const Folder& folder) {
    if (is_same(*folder, directory.id())) return true;
    if (real) return real->is_within(RealPath(*folder));
    if (!inner->is_within(recent_physical_path(*folder))) return false;
    const files::FileDescriptor own = open_folder(*folder);
    return own && is_physically_within(directory.descriptor(), own.get());
  });
  return found == folders_.end() ? nullptr : found->get();
}

OwnFolders OwnFolders::without_those_around(const Directory& root,
                                            const std::filesystem::path& path) const {
  OwnFolders others = *this;
  std::erase_if(others.folders_, [&](const Folder& folder) {
    return !is_same(*folder, root.id()) && OwnFolders({folder}).find(root, path) != nullptr;
  });
  return others;
}

}  // namespace eckart::io
