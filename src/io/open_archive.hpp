#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "files/file_state.hpp"
#include "tar/archive.hpp"

namespace eckart::io {

/// An open archive, and its state when it was opened.
struct OpenArchive {
  tar::Archive archive;
  files::FileState state;
};
using ArchivePtr = std::shared_ptr<const OpenArchive>;

/// Whether a file with this path is read as a tar archive: its name ends with ".tar".
bool is_archive_path(const std::filesystem::path& path);

/// Opens a tar archive and lists its members, or returns it as it was opened before if the file has
/// not changed. Keeps the last few archives open. Throws like InputFile and tar::Archive; what
/// libarchive needs and this machine lacks is an EnvironmentError. Thread-safe.
ArchivePtr open_archive(const std::filesystem::path& archive, const std::stop_token& stop = {});

/// A path that leads into an archive: the path of the archive, a slash, and the name of a member.
struct MemberPath {
  std::filesystem::path archive;
  std::string member;
};
/// Returns nullopt if no part of the path before its last is a regular file whose name ends with
/// ".tar".
std::optional<MemberPath> parse_member_path(const std::filesystem::path& path);

/// A member that can be read, and its archive.
struct OpenMember {
  ArchivePtr archive;
  const tar::Member* member;
};
/// Throws like open_archive(). Also throws ItemError: not_found, or unreadable with the member's
/// problem.
OpenMember open_member(const MemberPath& path);

/// Returns the state of a member. It has the mtime of the archive, because the times in it may all
/// be 0, and an inode that changes with the place of the member.
files::FileState state_of(const OpenMember& member);

/// Whether there is an input at this path: a directory entry, also a dangling link, or a member of
/// an archive. True if it cannot be examined, for example without permission.
bool input_exists(const std::filesystem::path& path);

}  // namespace eckart::io
