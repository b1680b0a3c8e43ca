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

/// An input that was renamed to a hidden name in its folder, so that it can be moved or deleted
/// without touching a file that arrives under its name. If the hidden name would be too long, the
/// file is in a hidden directory instead. The destructor restores the name, unless the file was
/// removed or moved. If another file has the name by then, a numbered name is used. A symbolic link
/// is claimed itself, not its target.
class ClaimedFile {
 public:
  /// Returns nullopt if the file no longer exists, differs from `expected`, or is no longer below
  /// its root. Then it keeps its name. Throws ItemError(not_written) with the system's message, or
  /// EnvironmentError, as all members do.
  static std::optional<ClaimedFile> claim(const RootedFile& file, const FileIdentity& expected);

  ClaimedFile(ClaimedFile&& other) noexcept;
  ClaimedFile& operator=(ClaimedFile&&) = delete;
  ~ClaimedFile();

  void remove();
  /// Moves the file below `root` and creates missing folders. To another file system the file is
  /// copied durably, if it has at most `max_copy_mb` MiB. Never replaces a file: the name then gets
  /// the time and a number. No link below `root` is followed.
  void move_to(const RootDirectory& root, const std::filesystem::path& relative,
               std::int64_t max_copy_mb = std::numeric_limits<std::int64_t>::max());

 private:
  struct ClaimPath {
    DirectoryPtr directory;
    std::string name;             // in `directory`; empty: there is nothing to restore
    std::string claim_directory;  // the name of `directory` if it was made for the claim, or empty
  };
  static std::optional<ClaimPath> rename_to_claim(const DirectoryPtr& directory,
                                                  const std::string& name);
  ClaimedFile(RootedFile file, FileIdentity expected, DirectoryPtr directory, ClaimPath claim_path,
              files::FileDescriptor lock)
      : file_(std::move(file)),
        expected_(expected),
        directory_(std::move(directory)),
        claim_path_(std::move(claim_path)),
        lock_(std::move(lock)) {}
  void clear_claim_path();

  RootedFile file_;
  FileIdentity expected_;
  DirectoryPtr directory_;  // the folder of the input
  ClaimPath claim_path_;
  files::FileDescriptor lock_;  // shows other processes that this process is alive
};

/// Renames a file, or copies it durably to another file system and removes it. Returns false if the
/// target exists. A copy requires a regular file of at most `max_mb` MiB that equals `expected`, if
/// not null, and that does not change during the copy. Throws like ClaimedFile.
bool move_file(const DirectoryEntry& from, const DirectoryEntry& to,
               std::int64_t max_mb = std::numeric_limits<std::int64_t>::max(),
               const FileIdentity* expected = nullptr);

/// Restores a file in `folder` that a killed process had claimed. Returns false if `name` is not
/// that of a claim or of its directory, if the process is alive, or if the file cannot be restored.
bool recover_stale_claim(const Directory& folder, std::string_view name);

}  // namespace eckart::io
