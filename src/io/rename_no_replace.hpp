#pragma once

#include <filesystem>

namespace eckart::io {

/// Renames a file within a file system, unless there is one of the new name: false with errno then
/// (EEXIST), and where it could not be renamed. Atomic, but on file systems that know neither
/// RENAME_NOREPLACE nor hard links: there a file that is made between the look and the rename is
/// replaced.
bool rename_no_replace(const std::filesystem::path& from, const std::filesystem::path& to);

/// Likewise, with paths relative to open directories, as renameat2(2) has it.
bool rename_no_replace(int from_directory, const std::filesystem::path& from, int to_directory,
                       const std::filesystem::path& to);

}  // namespace eckart::io
