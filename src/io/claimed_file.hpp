#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "files/file_descriptor.hpp"
#include "io/copy_file.hpp"
#include "io/rooted_file.hpp"

namespace eckart::io {

/// A file on its way out of the folder that it arrived in: hidden there, under another name or, if
/// that would be too long, in a directory of its own, so that what arrives meanwhile under its own
/// name is left alone. Goes back to that name with the
/// object, or to one like it where that is another file's by then, unless it was removed or moved.
/// A link is taken itself, never what it leads to.
class ClaimedFile {
 public:
  /// Nothing where the file is gone, is not the one in the state that was `read`, or is not below
  /// its root any more: then it is left where it is, under its name. Throws ItemError(not_written)
  /// with the system's reason, or EnvironmentError, as the others do.
  static std::optional<ClaimedFile> take(const RootedFile& file, const FileIdentity& read);

  ClaimedFile(ClaimedFile&& other) noexcept;
  ClaimedFile& operator=(ClaimedFile&&) = delete;
  ~ClaimedFile();

  void remove();
  /// To another place, whose folders are made if they are missing, on another file system too, and
  /// then durably, where it has at most so many MiB. Never over what is there: then to a name with
  /// the time, and a number. No link below `root` is followed.
  void move_to(const RootDirectory& root, const std::filesystem::path& relative,
               std::int64_t max_copy_mb = std::numeric_limits<std::int64_t>::max());

 private:
  struct ClaimPath {
    DirectoryPtr directory;
    std::string name;             // in it; empty: there is nothing to put back
    std::string claim_directory;  // the name of `directory`, if that was made for it
  };
  static std::optional<ClaimPath> hide(const DirectoryPtr& directory, const std::string& name);
  ClaimedFile(RootedFile file, FileIdentity read, DirectoryPtr directory, ClaimPath hidden,
              FileDescriptor lock)
      : file_(std::move(file)),
        expected_(read),
        directory_(std::move(directory)),
        claim_path_(std::move(hidden)),
        lock_(std::move(lock)) {}
  void forget();

  RootedFile file_;
  FileIdentity expected_;
  DirectoryPtr directory_;  // in which it was found
  ClaimPath claim_path_;
  FileDescriptor lock_;  // which shows other processes that this one lives
};

/// Renames a file, or copies it durably to another file system and removes it; false where there is
/// an entry at the new place. A copy is only made of a regular file that has at most `max_mb` MiB,
/// is the one that was `expected`, if any, and does not change meanwhile. Throws as ClaimedFile.
bool move_file(const DirectoryEntry& from, const DirectoryEntry& to,
               std::int64_t max_mb = std::numeric_limits<std::int64_t>::max(),
               const FileIdentity* expected = nullptr);

/// Puts a file in `folder` back that a process had claimed which was killed; false where `name` is
/// not that of such a file, or of the directory around it, and where that process still lives.
bool recover_stale_claim(const Directory& folder, std::string_view name);

}  // namespace eckart::io
