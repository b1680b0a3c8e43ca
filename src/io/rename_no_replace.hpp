#pragma once

#include <filesystem>

namespace eckart::io {

/// Renames a file within a file system without replacing another. Returns false, with errno, on
/// failure; EEXIST if the target exists. Atomic if the file system supports RENAME_NOREPLACE or
/// hard links. Otherwise a file that is created between the check and the rename is replaced.
bool rename_no_replace(const std::filesystem::path& from, const std::filesystem::path& to);

/// The same, with paths relative to open directories, as in renameat2(2).
bool rename_no_replace(int from_directory, const std::filesystem::path& from, int to_directory,
                       const std::filesystem::path& to);

}  // namespace eckart::io
