#include "io/rooted_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "core/error.hpp"
#include "io/environment_error.hpp"

namespace eckart::io {
namespace {

[[noreturn]] void fail_to_open(const RootedFile& file, int error) {
  const std::string why = std::generic_category().message(error);
  if (is_missing_error(error)) throw ItemError(FailureReason::not_found, "no such file");
  check_exhaustion(error, "cannot open " + file.path().string() + ": " + why);
  throw ItemError(FailureReason::unreadable, "cannot be opened: " + why);
}

EntryStat entry_of(const struct stat& status) {
  if (S_ISREG(status.st_mode)) return {EntryStat::file, identity_of(status), 0};
  if (S_ISLNK(status.st_mode)) return {EntryStat::link, {}, 0};
  return {S_ISDIR(status.st_mode) ? EntryStat::directory : EntryStat::other, {}, 0};
}

}  // namespace

DirectoryPtr open_directory(const RootedFile& file) {
  DirectoryPtr directory = file.root->open_below(file.relative.parent_path());
  if (!directory || directory->id() == file.directory) return directory;
  errno = ENOENT;
  return nullptr;
}

EntryStat stat_entry(const Directory& directory, const std::string& name, files::LinkPolicy links) {
  struct stat status {};
  const auto read_status = [&](int flags) {
    return ::fstatat(directory.descriptor(), name.c_str(), &status, flags) == 0;
  };
  if (!read_status(AT_SYMLINK_NOFOLLOW))
    return {EntryStat::missing, {}, is_missing_error(errno) ? 0 : errno};
  if (!S_ISLNK(status.st_mode) || links == files::LinkPolicy::none) return entry_of(status);
  if (!read_status(0)) return {EntryStat::link, {}, is_missing_error(errno) ? 0 : errno};
  const EntryStat target = entry_of(status);
  const bool is_followed = target.kind == EntryStat::file || links == files::LinkPolicy::all;
  return is_followed ? target : EntryStat{EntryStat::link, {}, 0};
}

InputFile open_input(const RootedFile& file) {
  const DirectoryPtr directory = open_directory(file);
  if (!directory) fail_to_open(file, errno);
  const files::LinkPolicy links = file.root->links();
  // Merely opening a device that a link leads to may have side effects.
  if (links != files::LinkPolicy::none &&
      stat_entry(*directory, file.name(), links).kind != EntryStat::file)
    throw ItemError(FailureReason::unreadable, "is not a regular file");
  files::FileDescriptor opened(
      ::openat(directory->descriptor(), file.name().c_str(),
               InputFile::kOpenFlags | (links == files::LinkPolicy::none ? O_NOFOLLOW : 0)));
  if (!opened) fail_to_open(file, errno);
  return InputFile(std::move(opened));
}

FileIdentity identity_of(const InputFile& file) {
  struct stat status {};
  if (::fstat(file.descriptor().get(), &status) != 0)
    throw ItemError(FailureReason::unreadable,
                    "cannot be examined: " + std::generic_category().message(errno));
  return identity_of(status);
}

}  // namespace eckart::io
