#include "io/root_directory.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "io/open_without_links.hpp"
#include "io/sync_folder.hpp"

namespace eckart::io {
namespace fs = std::filesystem;

RootDirectoryPtr RootDirectory::open(const fs::path& path, files::LinkPolicy links) {
  return open(RootPath(path), links);
}

RootDirectoryPtr RootDirectory::open(const RootPath& path, files::LinkPolicy links) {
  const DirectoryPtr directory = Directory::adopt(path.open());
  if (!directory) return nullptr;
  return RootDirectoryPtr(new RootDirectory(path, links, directory->id()));
}

DirectoryPtr RootDirectory::open() const {
  DirectoryPtr directory = Directory::adopt(path_.open());
  if (!directory || directory->id() == id_) return directory;
  errno = ENOENT;
  return nullptr;
}

DirectoryPtr RootDirectory::open_below(const fs::path& relative) const {
  DirectoryPtr root = open();
  if (!root || relative.empty()) return root;
  if (links_ == files::LinkPolicy::all)
    return Directory::adopt(
        files::FileDescriptor(::openat(root->descriptor(), relative.c_str(), kPathFlags)));
  return Directory::adopt(open_beneath(root->descriptor(), relative));
}

DirectoryPtr RootDirectory::make_below(const fs::path& relative) const {
  DirectoryPtr root = open();
  if (!root || relative.empty()) return root;
  DirectoryPtr directory = Directory::adopt(open_beneath(root->descriptor(), relative));
  if (directory || errno != ENOENT) return directory;
  directory = Directory::adopt(make_beneath(root->descriptor(), relative));
  const int error = errno;
  for (fs::path path = relative; !path.empty(); path = path.parent_path())
    forget_synced_folder(path_.path() / path);
  errno = error;
  return directory;
}

bool RootDirectory::remove_below(const fs::path& relative) const {
  const DirectoryPtr directory = open_below(relative.parent_path());
  return directory && ::unlinkat(directory->descriptor(), relative.filename().c_str(), 0) == 0;
}

}  // namespace eckart::io
