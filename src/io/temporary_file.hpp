#pragma once

#include <sys/types.h>
#include <time.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string_view>

#include "io/directory.hpp"
#include "io/unnamed_file.hpp"

struct stat;

namespace eckart::io {

/// When a temporary file gets a name.
enum class TemporaryName {
  at_once,
  /// When it is renamed, if the file system allows that. Then a killed process leaves nothing, and
  /// the folder is locked once and not twice. A program that watches the folder sees the new name
  /// (IN_CREATE), but no renaming and no closing of it (IN_MOVED_TO, IN_CLOSE_WRITE).
  late,
};

/// A new file in an existing folder under a unique name, `.eckart-...tmp`, or without a name. The
/// destructor removes it unless it was renamed. Throws std::system_error.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& folder,
                         TemporaryName name = TemporaryName::at_once);
  /// Creates the file in an open directory, which must outlive this object. path() and the
  /// arguments of rename_to() are relative to that directory.
  explicit TemporaryFile(const Directory& folder, mode_t mode = 0666,
                         TemporaryName name = TemporaryName::at_once);
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile();

  /// Empty if it has no name.
  const std::filesystem::path& path() const { return path_; }
  /// Gives a file without a name its unique name.
  void ensure_name();
  void write(std::span<const std::byte> bytes);
  /// Writes the parts one after the other, at most IOV_MAX.
  void write(std::span<const std::span<const std::byte>> parts);
  /// Errors are ignored.
  void set_times(const timespec& access, const timespec& modification) noexcept;
  /// Sets as much as this process is permitted to. Errors are ignored.
  void set_owner_and_mode(const struct stat& status) noexcept;
  /// Copies the ACL and the user attributes (`user.*`) if both file systems support them. Call it
  /// after set_owner_and_mode(), which would change the ACL.
  void copy_extended_attributes(const files::FileDescriptor& from) noexcept;
  FileId id() const;
  /// Sets the mtime explicitly and returns it in ns since 1970. Without this, NFS and SMB may
  /// change it when they write back cached data. Call it after the last write(). Without
  /// `mtime_ns`, it is the current value less a fraction of 1 ms, because files that are written
  /// within one tick of the kernel (up to 10 ms) have the same mtime.
  std::int64_t fix_mtime(std::optional<std::int64_t> mtime_ns);
  /// Starts writing the data to disk and does not wait.
  void start_writeback() noexcept;
  /// Waits until the data is on the disk.
  void sync();
  /// Must be called before rename_to(): some file systems report a failed write only here. A file
  /// without a name stays open; see link_method().
  void close();
  void rename_to(const std::filesystem::path& path);
  /// Returns false and changes nothing if the target exists.
  bool rename_if_free(const std::filesystem::path& path);

 private:
  /// As set_times(), in ns since 1970.
  void set_mtime(std::int64_t mtime_ns) noexcept;
  std::int64_t mtime_ns() const;

  void create(mode_t mode);
  std::filesystem::path unique_path() const;

  const int folder_;  // of prefix_ and path_; AT_FDCWD: the current folder
  const std::filesystem::path prefix_;
  LinkMethod link_method_ = LinkMethod::none;
  std::filesystem::path path_;
  files::FileDescriptor descriptor_;
  bool is_renamed_ = false;
};

/// Whether the name is that of a TemporaryFile of another process.
bool is_foreign_temporary(std::string_view name);

}  // namespace eckart::io
