#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string_view>

#include "io/directory.hpp"

struct stat;

namespace eckart::io {

/// A new file in a folder that is there, under a name that nobody else takes, `.eckart-...tmp`;
/// removed with the object unless it was renamed. Throws std::system_error.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& folder);
  /// In an open directory, which must outlive it; path() is its name there, and rename_to() takes
  /// names there.
  explicit TemporaryFile(const Directory& folder, mode_t mode = 0666);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  const std::filesystem::path& path() const { return path_; }
  void write(std::span<const std::byte> bytes);
  /// Where the file system can.
  void set_times(const timespec& access, const timespec& modification) noexcept;
  /// As far as this process may.
  void set_owner_and_mode(const struct stat& status) noexcept;
  /// The ACL and the attributes of users (`user.*`), where both file systems have them. After
  /// set_owner_and_mode(), which would change the ACL.
  void copy_extended_attributes(const FileDescriptor& from) noexcept;
  FileId id() const;
  /// Sets the time of the last write to what it is, in ns since 1970, and returns it: it stays
  /// then, whatever the file is renamed to. Else NFS and SMB may set another one when they write
  /// back what is cached. To be called after the last write().
  std::int64_t fix_mtime();
  /// Sends what was written on its way to the disk, without waiting.
  void start_writeback() noexcept;
  /// Waits until it is there.
  void sync();
  /// To be called before rename_to: some file systems report a failed write only here.
  void close();
  void rename_to(const std::filesystem::path& path);
  /// False, and nothing has changed, where there is something of that name.
  bool rename_if_free(const std::filesystem::path& path);

 private:
  TemporaryFile(int folder, const std::filesystem::path& prefix, mode_t mode);

  int folder_;  // that path_ is relative to; AT_FDCWD for the current one
  std::filesystem::path path_;
  FileDescriptor descriptor_;
  bool renamed_ = false;
};

/// Whether a file of this name was made by another process, as a TemporaryFile.
bool is_foreign_temporary(std::string_view name);

}  // namespace eckart::io
