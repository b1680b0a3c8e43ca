#include "io/rooted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/environment.hpp"

namespace eckart::io {
namespace {

[[noreturn]] void fail_to_open(const RootedFile& file, int error) {
  const std::string why = std::generic_category().message(error);
  if (means_gone(error)) throw ItemError(Reason::not_found, "no such file");
  check_exhaustion(error, "cannot open " + file.path().string() + ": " + why);
  throw ItemError(Reason::unreadable, "cannot be opened: " + why);
}

Entry entry_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return {Entry::file, identity_of(status), 0};
  if (S_ISLNK(status.st_mode)) return {Entry::link, {}, 0};
  return {S_ISDIR(status.st_mode) ? Entry::directory : Entry::other, {}, 0};
}

}  // namespace

DirectoryPtr open_directory(const RootedFile& file) {
  DirectoryPtr directory = file.root->open_below(file.relative.parent_path());
  if (!directory || directory->id() == file.directory) return directory;
  errno = ENOENT;
  return nullptr;
}

Entry look_at(const Directory& directory, const std::string& name, Links links) {
  struct stat status {};
  const auto look = [&](int flags) {
    return ::fstatat(directory.descriptor(), name.c_str(), &status, flags) == 0;
  };
  if (!look(AT_SYMLINK_NOFOLLOW)) return {Entry::nothing, {}, means_gone(errno) ? 0 : errno};
  if (!S_ISLNK(status.st_mode) || links == Links::none) return entry_of(status);
  if (!look(0)) return {Entry::link, {}, means_gone(errno) ? 0 : errno};
  const Entry target = entry_of(status);
  const bool is_followed = target.kind == Entry::file || links == Links::all;
  return is_followed ? target : Entry{Entry::link, {}, 0};
}

InputFile open_input(const RootedFile& file) {
  const DirectoryPtr directory = open_directory(file);
  if (!directory) fail_to_open(file, errno);
  const Links links = file.root->links();
  // Opening a device that a link leads to may already do something.
  if (links != Links::none && look_at(*directory, file.name(), links).kind != Entry::file)
    throw ItemError(Reason::unreadable, "is not a regular file");
  Descriptor opened(::openat(directory->descriptor(), file.name().c_str(),
                             InputFile::kOpenFlags | (links == Links::none ? O_NOFOLLOW : 0)));
  if (!opened) fail_to_open(file, errno);
  return InputFile(std::move(opened));
}

FileIdentity identity_of(const InputFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor().get(), &status) != 0)
    throw ItemError(Reason::unreadable,
                    "cannot be looked at: " + std::generic_category().message(errno));
  return identity_of(status);
}

}  // namespace eckart::io
