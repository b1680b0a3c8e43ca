#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "files/file_descriptor.hpp"

namespace eckart::tar {

/// A file in an archive.
struct Member {
  std::string name{};         ///< without "." and empty components, unless is_unsafe()
  std::int64_t offset = 0;    ///< of its content in the archive, in bytes
  std::int64_t size = 0;      ///< of its content, in bytes
  std::int64_t mtime_ns = 0;  ///< in ns since 1970
  std::string problem{};      ///< why it cannot be read; empty if it can
  /// Whether it has an absolute name, or one with "..": it may not be used as a path. Then it has a
  /// problem.
  bool is_unsafe = false;
};

/// An archive that is open for reading, and the places of its members. Formats: ustar, pax, GNU;
/// not compressed. Immutable, so it may be shared by threads.
class Archive {
 public:
  /// Reads the headers, one after the other, and no contents. Throws ItemError(unreadable) if it is
  /// not a tar archive, and std::runtime_error if libarchive cannot be loaded. If `stop` is
  /// requested, the list ends early.
  explicit Archive(files::FileDescriptor file, const std::stop_token& stop = {});

  const files::FileDescriptor& descriptor() const { return file_; }
  /// The members in the order of the archive; folders are not among them. Of members with the same
  /// name only the last, which counts, as in tar.
  std::span<const Member> members() const { return members_; }
  /// Returns null if there is none.
  const Member* find(std::string_view name) const;
  /// Why the archive ends early: it is damaged or truncated after these members, or has no end, as
  /// an archive that is not completely copied. Empty if not.
  const std::string& damage() const { return damage_; }

 private:
  void add(struct Entry entry, std::int64_t archive_size);
  void keep_last_of_each_name();
  bool has_end(std::int64_t end) const;

  files::FileDescriptor file_;
  std::vector<Member> members_;
  std::vector<std::size_t> by_name_;  // indices of members_, in order of names
  std::string damage_;
};

/// Returns whether a file with this name is read as an archive: it ends with ".tar".
bool is_archive_name(std::string_view name);

}  // namespace eckart::tar
