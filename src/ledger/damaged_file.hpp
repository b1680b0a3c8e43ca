#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string>

namespace eckart::ledger {

/// Identifies a file regardless of its name.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend bool operator==(const FileId&, const FileId&) = default;
};

/// All zero if there is no file.
FileId file_id_of(const std::filesystem::path& file);

/// Renames a damaged ledger to FILE.damaged-N and removes its journals. Returns the new path. To be
/// called with a CreationLock. Throws DatabaseError, with `reason` in its message.
std::filesystem::path rename_damaged_file(const std::filesystem::path& file,
                                          const std::string& reason);

/// Whether `damaged` is beside `file`, under a name that rename_damaged_file() gives.
bool was_renamed_as_damaged(const std::filesystem::path& file, const FileId& damaged);

/// Removes the journals of a ledger that was renamed or removed. A new ledger must not share them
/// with processes that have the old one open. SQLite, too, removes files of these names when it
/// creates a database.
void remove_stale_journals(const std::filesystem::path& file);

}  // namespace eckart::ledger
