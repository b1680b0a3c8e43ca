#include "io/own_folders.hpp"

#include <fcntl.h>

#include <algorithm>

#include "files/file_descriptor.hpp"
#include "io/physical_path.hpp"

namespace eckart::io {
namespace {

files::FileDescriptor open_folder(const std::filesystem::path& folder) {
  return files::FileDescriptor(::open(folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
}

}  // namespace

const std::filesystem::path* OwnFolders::find(const Directory& directory) const {
  const auto found = std::ranges::find_if(folders_, [&](const std::filesystem::path& folder) {
    const files::FileDescriptor own = open_folder(folder);
    return own && is_physically_within(directory.descriptor(), own.get());
  });
  return found == folders_.end() ? nullptr : &*found;
}

OwnFolders OwnFolders::without_those_around(const Directory& root) const {
  OwnFolders others = *this;
  std::erase_if(others.folders_, [&](const std::filesystem::path& folder) {
    const DirectoryPtr own = Directory::adopt(open_folder(folder));
    return own && own->id() != root.id() &&
           is_physically_within(root.descriptor(), own->descriptor());
  });
  return others;
}

}  // namespace eckart::io
